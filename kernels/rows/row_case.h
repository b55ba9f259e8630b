// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/memory.h"
#include "kernels/problem.h"
#include "kernels/rows/row_task.h"

namespace poolcast::kernels {

/// Inputs, output and reference of softmax, cross-entropy, RMSNorm, gates and residual additions (out of place, since
/// every run reads the same inputs).
struct RowCase {
  RowCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  Operation operation;
  DType dtype;
  RowTask task;
};

/// A row of the output in double: `columns` numbers, of cross-entropy one.
void row_values(const RowCase& data, std::int64_t row, double* out);

/// Inputs, output and reference of the rotary embedding. Positions are random below 2^15.
struct RotaryCase {
  RotaryCase(const KernelProblem& problem, std::uint64_t seed, Memory& memory);
  void poison();
  double error() const;

  DType dtype;
  RotaryTask task;
};

/// A token of the output in double: heads * head_dim numbers.
void rotary_values(const RotaryCase& data, std::int64_t token, double* out);

}  // namespace poolcast::kernels
