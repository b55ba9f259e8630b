// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/grouped_gemm/experts.h"

namespace poolcast::kernels {

PanelExperts::PanelExperts(const ExpertsShape& shape, const PanelFormat& format, const void* weights, Memory& memory)
    : shape_(shape) {
  const std::int64_t bytes = shape.weight.k * shape.weight.n * bytes_per_element(shape.weight.dtype);
  for (std::int64_t expert = 0; expert < shape.experts; ++expert)
    weights_.emplace_back(shape.weight, format, static_cast<const char*>(weights) + expert * bytes, memory);
}

void PanelExperts::multiply(const void* tokens, const Routing& routing, void* c, Team& team) {
  // Where the packed rows and the parts of each expert begin.
  std::vector<std::int64_t> packed_at = {0}, first_part = {0};
  for (std::size_t expert = 0; expert < weights_.size(); ++expert) {
    const std::int64_t rows = routing.rows_of(expert);
    packed_at.push_back(packed_at.back() + weights_[expert].packed_words(rows));
    first_part.push_back(first_part.back() + (rows == 0 ? 0 : weights_[expert].parts(rows)));
  }
  packed_.resize(std::max(packed_.size(), static_cast<std::size_t>(packed_at.back())));

  const std::int64_t row_bytes = shape_.weight.k * bytes_per_element(shape_.weight.dtype);
  team.parallel(static_cast<std::int64_t>(weights_.size()), [&](std::int64_t part) {
    const auto expert = static_cast<std::size_t>(part);
    for (std::int64_t row = 0; row < routing.rows_of(expert); ++row) {
      const std::int64_t token = routing.token_of[static_cast<std::size_t>(routing.first_row[expert] + row)];
      weights_[expert].pack_row(static_cast<const char*>(tokens) + token * row_bytes, row,
                                packed_.data() + packed_at[expert]);
    }
  });

  const std::int64_t out_bytes =
      shape_.weight.n * (shape_.weight.dtype == DType::kInt8 ? 4 : bytes_per_element(shape_.weight.dtype));
  team.parallel(first_part.back(), [&](std::int64_t part) {
    const auto expert =
        static_cast<std::size_t>(std::upper_bound(first_part.begin(), first_part.end(), part) - first_part.begin() - 1);
    weights_[expert].multiply_part(part - first_part[expert], packed_.data() + packed_at[expert],
                                   routing.rows_of(expert),
                                   static_cast<char*>(c) + routing.first_row[expert] * out_bytes);
  });
}

}  // namespace poolcast::kernels
