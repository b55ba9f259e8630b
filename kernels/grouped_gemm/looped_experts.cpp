// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/grouped_gemm/experts.h"

namespace poolcast::kernels {

LoopedExperts::LoopedExperts(const ExpertsShape& shape, MakeWeight make, const void* weights, Memory& memory)
    : shape_(shape) {
  const std::int64_t bytes = shape.weight.k * shape.weight.n * bytes_per_element(shape.weight.dtype);
  for (std::int64_t expert = 0; expert < shape.experts; ++expert)
    weights_.push_back(make(shape.weight, static_cast<const char*>(weights) + expert * bytes, memory));
}

void LoopedExperts::multiply(const void* tokens, const Routing& routing, void* c, Team& team) {
  const std::int64_t row_bytes = shape_.weight.k * bytes_per_element(shape_.weight.dtype);
  const std::int64_t out_bytes =
      shape_.weight.n * (shape_.weight.dtype == DType::kInt8 ? 4 : bytes_per_element(shape_.weight.dtype));
  for (std::size_t expert = 0; expert < weights_.size(); ++expert) {
    const std::int64_t rows = routing.rows_of(expert), first = routing.first_row[expert];
    if (rows == 0) continue;
    gathered_.resize(std::max(gathered_.size(), static_cast<std::size_t>(rows * row_bytes)));
    for (std::int64_t row = 0; row < rows; ++row)
      std::memcpy(
          gathered_.data() + row * row_bytes,
          static_cast<const char*>(tokens) + routing.token_of[static_cast<std::size_t>(first + row)] * row_bytes,
          static_cast<std::size_t>(row_bytes));
    weights_[expert]->multiply(gathered_.data(), rows, static_cast<char*>(c) + first * out_bytes, team);
  }
}

}  // namespace poolcast::kernels
