// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/problem.h"

namespace poolcast::kernels {
namespace {

double size(const KernelProblem& problem, std::initializer_list<std::string_view> names) {
  double product = 1;
  for (std::string_view one : names) product *= static_cast<double>(problem.dim(one));
  return product;
}

double output_bytes(DType dtype) { return dtype == DType::kInt8 ? 4 : bytes_per_element(dtype); }

/// Pairs of a query token and a token that it sees.
double causal_pairs(const KernelProblem& problem) {
  const double query = size(problem, {"query"});
  return query * size(problem, {"context"}) + query * (query + 1) / 2;
}

double active_experts(const KernelProblem& problem) {
  const std::vector<std::int64_t> rows = expert_rows(problem);
  return static_cast<double>(rows.size()) - static_cast<double>(std::count(rows.begin(), rows.end(), 0));
}

double least_bytes(const KernelProblem& p) {
  const double element = bytes_per_element(p.dtype);
  switch (p.operation) {
    case Operation::kGemm:
      return element * (size(p, {"m", "k"}) + size(p, {"k", "n"})) + output_bytes(p.dtype) * size(p, {"m", "n"});
    case Operation::kGroupedGemm:
      return element * (size(p, {"tokens", "k"}) + active_experts(p) * size(p, {"n", "k"})) +
             output_bytes(p.dtype) * size(p, {"tokens", "top_k", "n"});
    case Operation::kPrefillAttention:
      return 2 * element *
             (size(p, {"query", "heads", "head_dim"}) +
              (size(p, {"query"}) + size(p, {"context"})) * size(p, {"kv_heads", "head_dim"}));
    case Operation::kDecodeAttention:
      return 2 * element *
             (size(p, {"requests", "heads", "head_dim"}) + size(p, {"requests", "context", "kv_heads", "head_dim"}));
    case Operation::kSoftmax:
      return 2 * element * size(p, {"rows", "columns"});
    case Operation::kCrossEntropy:
      return element * size(p, {"rows", "columns"}) + 8 * size(p, {"rows"});
    case Operation::kRmsNorm:
      return element * (2 * size(p, {"rows", "columns"}) + size(p, {"columns"}));
    case Operation::kSiluGate:
    case Operation::kResidualAdd:
      return 3 * element * size(p, {"rows", "columns"});
    case Operation::kRotary:
      return 2 * element * size(p, {"tokens", "heads", "head_dim"});
    case Operation::kKvStore:
      return 4 * element * size(p, {"tokens", "kv_heads", "head_dim"});
    case Operation::kKvCopy:
      return 4 * element * size(p, {"blocks", "block", "kv_heads", "head_dim"});
    case Operation::kAllReduce:
      return 2 * element * size(p, {"ranks", "elements"});
  }
  return 0;
}

double operations(const KernelProblem& p) {
  switch (p.operation) {
    case Operation::kGemm:
      return 2 * size(p, {"m", "n", "k"});
    case Operation::kGroupedGemm:
      return 2 * size(p, {"tokens", "top_k", "n", "k"});
    case Operation::kPrefillAttention:
      return 4 * size(p, {"heads", "head_dim"}) * causal_pairs(p);
    case Operation::kDecodeAttention:
      return 4 * size(p, {"requests", "context", "heads", "head_dim"});
    case Operation::kSoftmax:
    case Operation::kSiluGate:
      return 5 * size(p, {"rows", "columns"});
    case Operation::kCrossEntropy:
    case Operation::kRmsNorm:
      return 4 * size(p, {"rows", "columns"});
    case Operation::kResidualAdd:
      return size(p, {"rows", "columns"});
    case Operation::kRotary:
      return 3 * size(p, {"tokens", "heads", "head_dim"});
    case Operation::kKvStore:
    case Operation::kKvCopy:
      return 0;
    case Operation::kAllReduce:
      return (size(p, {"ranks"}) - 1) * size(p, {"elements"});
  }
  return 0;
}

}  // namespace

Flops flops(const KernelProblem& problem) { return Flops(operations(problem)); }
Bytes bytes(const KernelProblem& problem) { return Bytes(least_bytes(problem)); }

std::vector<std::int64_t> expert_rows(const KernelProblem& problem) {
  const std::int64_t experts = problem.dim("experts"), most = problem.dim("tokens");
  const double exponent = static_cast<double>(problem.dim("skew")) / 100;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(experts), 0);
  std::vector<double> share(rows.size());
  for (std::size_t e = 0; e < share.size(); ++e) share[e] = std::pow(static_cast<double>(e + 1), -exponent);

  // Experts that would get more than every token are full; the others share what is left.
  std::int64_t left = most * problem.dim("top_k");
  double weight = std::accumulate(share.begin(), share.end(), 0.0);
  std::size_t first = 0;
  while (first < rows.size() && share[first] / weight * static_cast<double>(left) >= static_cast<double>(most)) {
    rows[first] = most;
    left -= most;
    weight -= share[first++];
  }
  std::vector<std::pair<double, std::size_t>> remainders;
  std::int64_t given = 0;
  for (std::size_t e = first; e < rows.size(); ++e) {
    const double exact = share[e] / weight * static_cast<double>(left);
    rows[e] = static_cast<std::int64_t>(exact);
    given += rows[e];
    remainders.emplace_back(static_cast<double>(rows[e]) - exact, e);
  }
  std::sort(remainders.begin(), remainders.end());  // largest remainder first, then the lower expert
  for (std::size_t i = 0; given < left; i = (i + 1) % remainders.size()) {
    if (rows[remainders[i].second] == most) continue;
    ++rows[remainders[i].second];
    ++given;
  }
  return rows;
}

}  // namespace poolcast::kernels
