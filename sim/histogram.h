// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace poolcast {

/// A histogram of durations with a bounded relative error, in constant memory.
///
/// Values below 256 ns have a bucket each; above, every power of two is cut into 128 buckets (the log-linear layout of
/// HdrHistogram, Tene 2012). A quantile is answered with the middle of its bucket, so it is off by at most
/// `kRelativeError` of the sample at that rank; count, mean and max are exact.
class Histogram {
 public:
  static constexpr int kSubBits = 7;
  static constexpr double kRelativeError = 1.0 / (1 << (kSubBits + 1));  // 0.39 %

  static constexpr std::size_t bucket(SimTime value) {
    const auto v = static_cast<std::uint64_t>(value);
    const int shift = static_cast<int>(std::bit_width(v | 255u)) - (kSubBits + 1);
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(v >> shift);
  }

  /// Adds `count` samples of `value` >= 0.
  void add(SimTime value, std::uint64_t count = 1);
  /// Adds `count` samples of one bucket whose total is `sum` ns and whose largest is `largest`.
  void add_run(std::size_t index, std::uint64_t count, std::uint64_t sum, SimTime largest);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  SimTime max() const { return max_; }
  /// Mean in ns; 0 when empty.
  double mean() const;
  /// The value at rank ceil(q * count), for q in (0, 1]; 0 when empty.
  SimTime quantile(double q) const;
  /// Samples of at most `value` >= 0, those of its whole bucket included: exact for a limit that is off by at most
  /// `2 * kRelativeError`.
  std::uint64_t count_at_most(SimTime value) const;
  bool operator==(const Histogram&) const = default;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  __extension__ unsigned __int128 sum_ = 0;  // ns
  SimTime max_ = 0;
};

}  // namespace poolcast
