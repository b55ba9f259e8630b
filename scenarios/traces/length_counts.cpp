// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/length_counts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace poolcast {

void LengthCounts::add(std::int64_t tokens) {
  min_ = count_ == 0 ? tokens : std::min(min_, tokens);
  max_ = count_ == 0 ? tokens : std::max(max_, tokens);
  ++count_;
  sum_ += tokens;
  if (tokens > kExact) return;
  const auto index = static_cast<std::size_t>(tokens);
  if (index >= counts_.size()) counts_.resize(std::max(index + 1, 2 * counts_.size()));
  ++counts_[index];
}

std::int64_t LengthCounts::quantile(double q) const {
  const auto rank = static_cast<std::uint64_t>(std::max(1.0, std::ceil(q * static_cast<double>(count_))));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (below >= rank) return static_cast<std::int64_t>(i);
  }
  return max_;
}

}  // namespace poolcast
