// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace poolcast {

/// The seed of replication `index` of a scenario with this seed: the first has the scenario's own, so that `run` shows
/// it, and the others one that `--seed` takes (below 2^63). It depends on nothing else: two scenarios with one seed
/// meet the same random worlds, since every stream of a run is named by seed and purpose (sim/random.h).
std::uint64_t replication_seed(std::uint64_t seed, std::int64_t index);

/// Calls `work(i)` for i in [0, count), side by side on up to `threads` threads (0: as many as the machine has, which
/// is also the most). Each must write to a place of its own, so that results do not depend on the threads. `done(n)` is
/// called after the n-th end, one at a time. Of several exceptions that of the lowest i is thrown, when all have ended.
void replicate(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work,
               const std::function<void(std::int64_t)>& done = {});

}  // namespace poolcast
