// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poolcast {

struct RateWindow {
  double begin_s = 0, end_s = 0;
  std::uint64_t rows = 0;

  double rate_per_s() const { return end_s > begin_s ? static_cast<double>(rows) / (end_s - begin_s) : 0; }
};

/// How many rows fell into each stretch of a trace whose length is not known beforehand: at most 4,096 bins, whose
/// width doubles when the trace outgrows them.
class RateWindows {
 public:
  /// Times in s, never falling, from 0.
  void add(double at_s);

  /// The trace from its first to its last row in about `count` windows (whole bins each). Empty for a trace of no
  /// length.
  std::vector<RateWindow> windows(std::size_t count) const;
  /// The end of the quiet beginning: the longest head of the trace, between a hundredth and half of it, at whose every
  /// moment the rate so far is below a fifth of the rate of the rest. 0 when there is none.
  double quiet_head_s() const;

 private:
  static constexpr std::size_t kMostBins = 4096;

  std::vector<std::uint64_t> bins_;
  double width_s_ = 0x1.0p-10;
  double last_s_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace poolcast
