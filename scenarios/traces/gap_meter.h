// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "scenarios/traces/stats.h"
#include "sim/time.h"

namespace poolcast {

/// Measures the gaps between rows as they pass.
class GapMeter {
 public:
  void add(Seconds timestamp, std::uint64_t line);

  GapStats stats() const;
  double last_s() const { return last_s_; }
  double quantum_s() const;

 private:
  static constexpr std::size_t kLongest = 64;

  void keep_long(const TraceGap& gap);

  GapStats stats_;
  bool started_ = false;
  double last_s_ = 0;
  double mean_ = 0, squares_ = 0;  // Welford 1962
  SimTime common_ = 0;             // greatest common divisor of the timestamps in ns
};

}  // namespace poolcast
