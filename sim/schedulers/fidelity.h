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

}  // namespace poolcast
