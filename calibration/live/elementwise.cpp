// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace poolcast::live {
namespace {

/// e^x to 1e-6 relative, within ±80: 2^n times a polynomial in the rest (Cody and Waite's reduction), written so that
/// compilers vectorise it.
float exponential(float x) {
  x = std::clamp(x, -80.0f, 80.0f);
  const float n = static_cast<float>(static_cast<std::int32_t>(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f)));
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1 / 720.0f;
  for (const float c : {1 / 120.0f, 1 / 24.0f, 1 / 6.0f, 0.5f, 1.0f, 1.0f}) p = p * r + c;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

}  // namespace

using kernels::to_bf16;
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

void add(Bf16* to, const Bf16* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = to_bf16(to_float(to[i]) + to_float(from[i]));
}

void gate(const Bf16* gate_up, Bf16* out, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    const float g = to_float(gate_up[i]);
    out[i] = to_bf16(g / (1 + exponential(-g)) * to_float(gate_up[width + i]));
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
