// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace poolcast {

/// The distribution of token counts, exact up to `kExact` tokens, in memory that grows with the largest count and not
/// with the number of samples.
class LengthCounts {
 public:
  static constexpr std::int64_t kExact = 1 << 22;

  /// `tokens` >= 0.
  void add(std::int64_t tokens);

  std::uint64_t count() const { return count_; }
  double total() const { return static_cast<double>(sum_); }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  std::int64_t min() const { return min_; }
  std::int64_t max() const { return max_; }
  /// The count at rank ceil(q * n), q in (0, 1]; above kExact it is the largest count of all. 0 when empty.
  std::int64_t quantile(double q) const;

 private:
  std::vector<std::uint64_t> counts_;  // by tokens
  std::uint64_t count_ = 0;
  __extension__ __int128 sum_ = 0;
  std::int64_t min_ = 0, max_ = 0;
};

}  // namespace poolcast
