// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/bf16.h"

struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 x) { return poolcast::kernels::to_float(poolcast::kernels::Bf16{x.bits}); }
inline __nv_bfloat16 __float2bfloat16(float x) { return {poolcast::kernels::to_bf16(x).bits}; }
