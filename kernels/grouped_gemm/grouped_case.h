// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/memory.h"
#include "kernels/problem.h"

namespace poolcast::kernels {

/// Which rows of the output belong to which expert, and from which token each is made.
struct Routing {
  std::vector<std::int64_t> first_row;  // of each expert, and the number of rows at the end
  std::vector<std::int32_t> token_of;   // of each row; rising within an expert

  std::int64_t rows_of(std::size_t expert) const { return first_row[expert + 1] - first_row[expert]; }
};

/// Random routing with the rows per expert of `expert_rows`: every token has top_k different experts.
Routing make_routing(const KernelProblem& problem, std::uint64_t seed);

/// Inputs, output and reference of a grouped GEMM; matrices in rows without gaps.
struct GroupedCase {
  GroupedCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  DType dtype;
  std::int64_t experts, tokens, n, k;
  Routing routing;
  void* rows;     // [tokens,k]
  void* weights;  // [experts][k,n]
  void* c;        // [tokens * top_k, n]
};

}  // namespace poolcast::kernels
