// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_gemm/grouped_case.h"

#include <algorithm>
#include <numeric>

#include "kernels/compare.h"
#include "kernels/element.h"
#include "kernels/random.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kOperationsOfACheck = std::int64_t{1} << 28;

/// One output after the other, for as many as the budget allows: all, or every stride-th.
template <class T>
double error_in(const GroupedCase& data) {
  const auto* c = static_cast<const typename Sums<T>::Output*>(data.c);
  const std::int64_t rows = data.routing.first_row.back(), outputs = rows * data.n;
  Comparison comparison;
  if (!all_written(c, outputs)) return comparison.error();
  const std::int64_t budget = std::max<std::int64_t>(1, kOperationsOfACheck / (2 * data.k));
  Random random(static_cast<std::uint64_t>(outputs));
  for (std::int64_t i = 0; i < std::min(outputs, budget); ++i) {
    const std::int64_t at = outputs <= budget ? i : random.below(outputs), row = at / data.n, column = at % data.n;
    const auto& first = data.routing.first_row;
    const auto expert = std::upper_bound(first.begin(), first.end(), row) - first.begin() - 1;
    const T* token = static_cast<const T*>(data.rows) + data.routing.token_of[static_cast<std::size_t>(row)] * data.k;
    const T* weight = static_cast<const T*>(data.weights) + expert * data.k * data.n + column;
    double sum = 0;
    for (std::int64_t j = 0; j < data.k; ++j) sum += to_double(token[j]) * to_double(weight[j * data.n]);
    comparison.add(to_double(c[at]), sum);
  }
  return comparison.error();
}

}  // namespace

Routing make_routing(const KernelProblem& problem, std::uint64_t seed) {
  const std::vector<std::int64_t> counts = expert_rows(problem);
  const auto tokens = static_cast<std::size_t>(problem.dim("tokens"));
  Random random(seed);
  std::vector<std::int64_t> left(tokens, problem.dim("top_k"));
  std::vector<std::int32_t> order(tokens);
  std::iota(order.begin(), order.end(), 0);
  Routing routing;
  routing.first_row = {0};
  for (std::int64_t count : counts) {
    // The tokens with most experts still to come, in random order among equals: then none is left over at the end.
    for (std::size_t i = tokens - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return left[static_cast<std::size_t>(a)] > left[static_cast<std::size_t>(b)];
    });
    std::vector<std::int32_t> chosen(order.begin(), order.begin() + count);
    std::sort(chosen.begin(), chosen.end());
    for (std::int32_t token : chosen) --left[static_cast<std::size_t>(token)];
    routing.token_of.insert(routing.token_of.end(), chosen.begin(), chosen.end());
    routing.first_row.push_back(routing.first_row.back() + count);
  }
  return routing;
}

GroupedCase::GroupedCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory)
    : dtype(problem.dtype),
      experts(problem.dim("experts")),
      tokens(problem.dim("tokens")),
      n(problem.dim("n")),
      k(problem.dim("k")),
      routing(make_routing(problem, seed)) {
  Random random(seed);
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    T* of_tokens = memory.take<T>(tokens * k);
    T* of_experts = memory.take<T>(experts * k * n);
    random.fill(of_tokens, tokens * k);
    random.fill(of_experts, experts * k * n);
    rows = of_tokens;
    weights = of_experts;
    c = memory.take<typename Sums<T>::Output>(routing.first_row.back() * n);
  });
}

void GroupedCase::poison() {
  with_element(dtype, [&](auto element) {
    kernels::poison(static_cast<typename Sums<decltype(element)>::Output*>(c), routing.first_row.back() * n);
  });
}

double GroupedCase::error() const {
  return with_element(dtype, [&](auto element) { return error_in<decltype(element)>(*this); });
}

}  // namespace poolcast::kernels
