// SPDX-License-Identifier: Apache-2.0
#include "kernels/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace poolcast::kernels {
namespace {

template <class T, class Bad>
bool none(const T* out, std::int64_t count, Bad bad) {
  return std::none_of(out, out + count, bad);
}

}  // namespace

void Comparison::add(double got, double wanted) {
  finite_ = finite_ && std::isfinite(got);
  worst_ = std::max(worst_, std::abs(got - wanted));
  squares_ += wanted * wanted;
  ++count_;
}

double Comparison::error() const {
  if (!finite_ || count_ == 0) return std::numeric_limits<double>::infinity();
  return worst_ == 0 ? 0 : worst_ / scale();
}

double Comparison::scale() const { return std::sqrt(squares_ / static_cast<double>(count_)); }

void RowComparison::add(double got, double wanted) {
  all_.add(got, wanted);
  Row& row = rows_.back();
  row.worst = std::max(row.worst, std::abs(got - wanted));
  row.squares += wanted * wanted;
  ++row.count;
}

void RowComparison::end_row() { rows_.emplace_back(); }

double RowComparison::error() const {
  double worst = all_.error();
  if (!std::isfinite(worst)) return worst;
  worst = 0;
  for (const Row& row : rows_)
    if (row.worst > 0)
      worst =
          std::max(worst, row.worst / std::max(all_.scale(), std::sqrt(row.squares / static_cast<double>(row.count))));
  return worst;
}

void poison(float* out, std::int64_t count) { std::fill_n(out, count, std::numeric_limits<float>::quiet_NaN()); }
void poison(Bf16* out, std::int64_t count) { std::fill_n(out, count, Bf16{0x7fc0}); }
void poison(std::int32_t* out, std::int64_t count) {
  std::fill_n(out, count, std::numeric_limits<std::int32_t>::min());
}
void poison(std::int8_t* out, std::int64_t count) { std::fill_n(out, count, std::int8_t{-128}); }

bool all_written(const float* out, std::int64_t count) {
  return none(out, count, [](float x) { return !std::isfinite(x); });
}
bool all_written(const Bf16* out, std::int64_t count) {
  return none(out, count, [](Bf16 x) { return (x.bits & 0x7f80u) == 0x7f80u; });
}
bool all_written(const std::int32_t* out, std::int64_t count) {
  return none(out, count, [](std::int32_t x) { return x == std::numeric_limits<std::int32_t>::min(); });
}
bool all_written(const std::int8_t* out, std::int64_t count) {
  return none(out, count, [](std::int8_t x) { return x == -128; });
}

}  // namespace poolcast::kernels
