// SPDX-License-Identifier: Apache-2.0
#include "kernels/element.h"
#include "kernels/gemm/weight.h"

namespace poolcast::kernels {
namespace {

/// The loops of the textbook: for each output a dot product, down a column of B.
template <class T>
class NaiveWeight final : public Weight {
 public:
  NaiveWeight(const WeightShape& shape, const void* b) : shape_(shape), b_(static_cast<const T*>(b)) {}

  void multiply(const void* a, std::int64_t m, void* c, Team& team) override {
    const auto* rows = static_cast<const T*>(a);
    auto* out = static_cast<typename Sums<T>::Output*>(c);
    team.parallel(m, [&](std::int64_t row) {
      for (std::int64_t column = 0; column < shape_.n; ++column) {
        typename Sums<T>::Sum sum = 0;
        for (std::int64_t i = 0; i < shape_.k; ++i)
          sum += factor(rows[row * shape_.k + i]) * factor(b_[i * shape_.n + column]);
        put(out[row * shape_.n + column], sum);
      }
    });
  }

 private:
  WeightShape shape_;
  const T* b_;
};

}  // namespace

std::unique_ptr<Weight> portable_naive_weight(const WeightShape& shape, const void* b, Memory&) {
  return with_element(shape.dtype, [&](auto element) -> std::unique_ptr<Weight> {
    return std::make_unique<NaiveWeight<decltype(element)>>(shape, b);
  });
}

}  // namespace poolcast::kernels
