// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/report.h"
#include "sim/time.h"

namespace poolcast {

/// Follows the number of requests in the system over time, in at most 128 equal windows whose width doubles as the run
/// grows: constant memory for a run of any length.
class Backlog {
 public:
  void arrived(SimTime now);
  void ended(SimTime now);

  std::int64_t in_system() const { return in_system_; }
  /// Fills the windows, the time integral and the stationarity verdict.
  void report(SimTime end, Report& report);

 private:
  __extension__ using Integral = __int128;
  struct Bin {
    Integral area = 0;  // request-nanoseconds
    std::uint64_t arrived = 0;
    std::uint64_t ended = 0;
  };
  static constexpr std::size_t kMaxBins = 128;

  Bin& advance(SimTime now);
  void halve();

  SimTime origin_ = kNever;  ///< the first arrival
  SimTime last_ = 0;
  SimTime width_ = 1'000'000;  // 1 ms to begin with
  std::int64_t in_system_ = 0;
  std::vector<Bin> bins_;
};

}  // namespace poolcast
