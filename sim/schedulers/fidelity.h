// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast {

/// What to do where the rules of an engine have a known fault (a request lost, a queue that hangs, a hit on a block
/// that was never computed).
enum class Fidelity : std::uint8_t {
  kMended,    ///< leave the fault out; the run's notes say where that departs from the engine
  kUpstream,  ///< reproduce it; the run's notes say when it struck
};

/// Where a scheduler left out a fault of its engine, or met it, and how often: a phrase for the run's notes.
struct Departure {
  const char* what;
  std::int64_t times;
};

}  // namespace poolcast
