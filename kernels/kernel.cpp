// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel.h"

#include <array>
#include <cmath>

namespace poolcast::kernels {

std::string_view name(DeviceKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"cpu", "opencl", "cuda", "hip"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Sums of k products of numbers even in [-1, 1) in fp32 err by about 2^-24 sqrt(k) of their root mean square, several
/// times that at worst; rounding an output to bf16 errs by up to 2^-9 of it, and the largest outputs are 5 times the
/// root mean square. Attention also rounds its probabilities to bf16.
double allowed_error(const KernelProblem& problem) {
  const bool copies = problem.operation == Operation::kKvStore || problem.operation == Operation::kKvCopy;
  if (problem.dtype == DType::kInt8 || copies) return 0;
  if (problem.dtype == DType::kBf16) return problem.operation == Operation::kCrossEntropy ? 1e-4 : 3e-2;
  return 2e-4;
}

}  // namespace poolcast::kernels
