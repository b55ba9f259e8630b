// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace poolcast::kernels {

/// e^x for x in [-87, 0], below that e^-87: 2^(whole + part), the part by its Taylor polynomial; off by 3e-7 of it at
/// most. Without branches, so that any compiler vectorises a loop over it, and inlined always (bf16.h says why).
[[gnu::always_inline]] inline float power(float x) {
  const float y = (x < -87.0f ? -87.0f : x) * 1.44269504f;
  const auto whole = static_cast<std::int32_t>(y - 0.5f);
  const float part = y - static_cast<float>(whole);
  float value = 1.5403530e-4f * part + 1.3333558e-3f;
  value = value * part + 9.6181291e-3f;
  value = value * part + 5.5504109e-2f;
  value = value * part + 2.4022651e-1f;
  value = value * part + 6.9314718e-1f;
  value = value * part + 1.0f;
  return value * std::bit_cast<float>((whole + 127) << 23);
}

}  // namespace poolcast::kernels
