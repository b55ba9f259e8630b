// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/elementwise.h"

#include <cmath>

namespace poolcast::live {
using kernels::to_float;

void RotaryTable::reach(std::int64_t positions) {
  for (auto p = static_cast<std::int64_t>(turns_.size()) / head_dim_; p < positions; ++p) {
    for (std::int64_t i = 0; i < head_dim_ / 2; ++i) {
      const double share = static_cast<double>(2 * i) / static_cast<double>(head_dim_);
      const double angle = static_cast<double>(p) * std::pow(10000.0, -share);
      turns_.push_back(static_cast<float>(std::cos(angle)));
      turns_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

std::int64_t greatest(const Bf16* row, std::int64_t count) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < count; ++i) {
    if (to_float(row[i]) > to_float(row[best])) best = i;
  }
  return best;
}

}  // namespace poolcast::live
