// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm_case.h"

#include "kernels/compare.h"
#include "kernels/element.h"
#include "kernels/random.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kOperationsOfACheck = std::int64_t{1} << 28;

template <class T>
double product(const T* row, const T* column, std::int64_t stride, std::int64_t k) {
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += to_double(row[i]) * to_double(column[i * stride]);
  return sum;
}

template <class Output>
double error_in(const GemmCase& data, const Output* c) {
  Comparison comparison;
  if (!all_written(c, data.m * data.n)) return comparison.error();
  const auto compare = [&](std::int64_t row, std::int64_t column) {
    comparison.add(to_double(c[row * data.n + column]), gemm_value(data, row, column));
  };
  const std::int64_t budget = std::max<std::int64_t>(1, kOperationsOfACheck / (2 * data.k));
  if (data.m * data.n <= budget) {
    for (std::int64_t row = 0; row < data.m; ++row)
      for (std::int64_t column = 0; column < data.n; ++column) compare(row, column);
    return comparison.error();
  }
  for (std::int64_t row : {std::int64_t{0}, data.m - 1})
    for (std::int64_t column : {std::int64_t{0}, data.n - 1}) compare(row, column);
  Random random(static_cast<std::uint64_t>(data.m * data.n));
  for (std::int64_t i = 0; i < budget; ++i) compare(random.below(data.m), random.below(data.n));
  return comparison.error();
}

}  // namespace

GemmCase::GemmCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : dtype(problem.dtype), m(problem.dim("m")), n(problem.dim("n")), k(problem.dim("k")) {
  Random random(seed);
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    T* rows = memory.take<T>(m * k);
    T* weight = memory.take<T>(k * n);
    random.fill(rows, m * k);
    random.fill(weight, k * n);
    a = rows;
    b = weight;
    c = memory.take<typename Sums<T>::Output>(m * n);
  });
}

void GemmCase::poison() {
  with_element(
      dtype, [&](auto element) { kernels::poison(static_cast<typename Sums<decltype(element)>::Output*>(c), m * n); });
}

double GemmCase::error() const {
  return with_element(dtype, [&](auto element) {
    return error_in(*this, static_cast<const typename Sums<decltype(element)>::Output*>(c));
  });
}

double gemm_value(const GemmCase& data, std::int64_t row, std::int64_t column) {
  return with_element(data.dtype, [&](auto element) {
    using T = decltype(element);
    return product(static_cast<const T*>(data.a) + row * data.k, static_cast<const T*>(data.b) + column, data.n,
                   data.k);
  });
}

}  // namespace poolcast::kernels
