// SPDX-License-Identifier: Apache-2.0
#include "kernels/element.h"
#include "kernels/gemm/weight.h"

namespace poolcast::kernels {
namespace {

/// Sums in double, one output after the other.
template <class T>
class ReferenceWeight final : public Weight {
 public:
  ReferenceWeight(const WeightShape& shape, const void* b) : shape_(shape), b_(static_cast<const T*>(b)) {}

  void multiply(const void* a, std::int64_t m, void* c, Team& team) override {
    const auto* rows = static_cast<const T*>(a);
    auto* out = static_cast<typename Sums<T>::Output*>(c);
    team.parallel(m, [&](std::int64_t row) {
      for (std::int64_t column = 0; column < shape_.n; ++column) {
        double sum = 0;
        for (std::int64_t i = 0; i < shape_.k; ++i)
          sum += to_double(rows[row * shape_.k + i]) * to_double(b_[i * shape_.n + column]);
        put(out[row * shape_.n + column], static_cast<typename Sums<T>::Sum>(sum));
      }
    });
  }

 private:
  WeightShape shape_;
  const T* b_;
};

}  // namespace

std::unique_ptr<Weight> reference_weight(const WeightShape& shape, const void* b, Memory&) {
  return with_element(shape.dtype, [&](auto element) -> std::unique_ptr<Weight> {
    return std::make_unique<ReferenceWeight<decltype(element)>>(shape, b);
  });
}

}  // namespace poolcast::kernels
