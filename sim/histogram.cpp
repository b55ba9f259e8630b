// SPDX-License-Identifier: Apache-2.0
#include "sim/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace poolcast {

void Histogram::add(SimTime value, std::uint64_t count) {
  const std::size_t index = bucket(value);
  if (index >= buckets_.size()) buckets_.resize(index + 1);
  buckets_[index] += count;
  count_ += count;
  sum_ += static_cast<unsigned __int128>(value) * count;
  max_ = std::max(max_, value);
}

void Histogram::add_run(std::size_t index, std::uint64_t count, std::uint64_t sum, SimTime largest) {
  if (index >= buckets_.size()) buckets_.resize(index + 1);
  buckets_[index] += count;
  count_ += count;
  sum_ += sum;
  max_ = std::max(max_, largest);
}

void Histogram::merge(const Histogram& other) {
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

SimTime Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(q * static_cast<double>(count_));
  const std::uint64_t rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  std::size_t index = 0;
  while ((seen += buckets_[index]) < rank) ++index;
  if (index < 2u << kSubBits) return static_cast<SimTime>(index);
  const auto shift = (index >> kSubBits) - 1;
  const auto low = static_cast<SimTime>((index - (shift << kSubBits)) << shift);
  return std::min(low + (SimTime{1} << shift) / 2, max_);
}

std::uint64_t Histogram::count_at_most(SimTime value) const {
  const std::size_t last = std::min(bucket(value) + 1, buckets_.size());
  return std::accumulate(buckets_.begin(), buckets_.begin() + static_cast<std::ptrdiff_t>(last), std::uint64_t{0});
}

}  // namespace poolcast
