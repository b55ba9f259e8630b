// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/elementwise.h"

#include <algorithm>
#include <array>
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

/// Sixteen side by side, so that compilers vectorise it.
std::int64_t greatest(const Bf16* row, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  std::array<float, kLanes> lanes;
  lanes.fill(to_float(row[0]));
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float value = to_float(row[static_cast<std::size_t>(i) + lane]);
      lanes[lane] = lanes[lane] < value ? value : lanes[lane];
    }
  for (; i < count; ++i) lanes[0] = std::max(lanes[0], to_float(row[i]));
  const float most = *std::max_element(lanes.begin(), lanes.end());
  return std::find_if(row, row + count, [most](Bf16 x) { return to_float(x) == most; }) - row;
}

}  // namespace poolcast::live
