// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "models/units.h"

namespace poolcast {

/// The simulated clock: integer nanoseconds since the start of the run.
using SimTime = std::int64_t;

inline constexpr SimTime kNever = std::numeric_limits<SimTime>::max();
inline constexpr SimTime kNanosPerSecond = 1'000'000'000;

inline constexpr const char* kClockEnds = "the run passes the 292 years of the simulated clock";

/// The one place where a duration of a model becomes simulated time: to the nearest nanosecond, halves away from zero.
/// Throws std::range_error for one that the clock cannot hold.
inline SimTime to_sim_time(Seconds s) {
  if (s.value * 1e9 >= 0x1p63) throw std::range_error(kClockEnds);
  return std::llround(s.value * 1e9);
}
/// `at` plus a delay >= 0, or kNever where the clock ends.
inline SimTime later(SimTime at, SimTime delay) { return delay < kNever - at ? at + delay : kNever; }
inline Seconds to_seconds(SimTime t) { return Seconds(static_cast<double>(t) * 1e-9); }

}  // namespace poolcast
