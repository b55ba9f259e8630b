// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bf16.h"

namespace poolcast::live {

/// What a transformer does beside the kernels of its operators.
using kernels::Bf16;

/// Cosine and sine of position * 10000^(-2i/head_dim) for i below head_dim/2, side by side: a row of head_dim numbers a
/// position, computed once.
class RotaryTable {
 public:
  explicit RotaryTable(std::int64_t head_dim) : head_dim_(head_dim) {}
  /// Computes the rows below `positions`; rows given out before become invalid.
  void reach(std::int64_t positions);
  const float* row(std::int64_t position) const { return &turns_[static_cast<std::size_t>(position * head_dim_)]; }

 private:
  std::int64_t head_dim_;
  std::vector<float> turns_;
};

/// Index of the greatest, the first of equals.
std::int64_t greatest(const Bf16* row, std::int64_t count);

}  // namespace poolcast::live
