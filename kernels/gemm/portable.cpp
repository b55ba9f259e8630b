// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "kernels/element.h"
#include "kernels/gemm/weight.h"

namespace poolcast::kernels {
namespace {

/// Adds multiples of rows of B to a row of sums: the inner loop runs along rows, so that any compiler vectorises it.
template <class T>
class PortableWeight final : public Weight {
 public:
  PortableWeight(const WeightShape& shape, const void* b) : shape_(shape), b_(static_cast<const T*>(b)) {}

  void multiply(const void* a, std::int64_t m, void* c, Team& team) override {
    const auto* rows = static_cast<const T*>(a);
    auto* out = static_cast<typename Sums<T>::Output*>(c);
    team.parallel(m, [&](std::int64_t row) { multiply_row(rows + row * shape_.k, out + row * shape_.n); });
  }

 private:
  using Sum = typename Sums<T>::Sum;

  void multiply_row(const T* row, typename Sums<T>::Output* out) const {
    std::vector<Sum> sums(static_cast<std::size_t>(shape_.n), 0);
    for (std::int64_t i = 0; i < shape_.k; ++i) add_multiple(sums.data(), factor(row[i]), b_ + i * shape_.n);
    for (std::int64_t column = 0; column < shape_.n; ++column) put(out[column], sums[static_cast<std::size_t>(column)]);
  }

  void add_multiple(Sum* sums, Sum times, const T* of) const {
    for (std::int64_t column = 0; column < shape_.n; ++column) sums[column] += times * factor(of[column]);
  }

  WeightShape shape_;
  const T* b_;
};

}  // namespace

std::unique_ptr<Weight> portable_weight(const WeightShape& shape, const void* b, Memory&) {
  return with_element(shape.dtype, [&](auto element) -> std::unique_ptr<Weight> {
    return std::make_unique<PortableWeight<decltype(element)>>(shape, b);
  });
}

}  // namespace poolcast::kernels
