// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/memory.h"
#include "kernels/problem.h"

namespace poolcast::kernels {

/// Inputs, output and reference of a GEMM; matrices in rows without gaps.
struct GemmCase {
  GemmCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  DType dtype;
  std::int64_t m, n, k;
  void* a;  // [m,k]
  void* b;  // [k,n]
  void* c;  // [m,n]
};

/// sum over k of A[row,k] B[k,column] in double.
double gemm_value(const GemmCase& data, std::int64_t row, std::int64_t column);

}  // namespace poolcast::kernels
