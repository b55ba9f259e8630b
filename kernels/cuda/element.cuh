// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/tensor_map.h"

namespace poolcast::cuda {

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ __forceinline__ void put(float& out, float x) { out = x; }
__device__ __forceinline__ void put(__nv_bfloat16& out, float x) { out = __float2bfloat16(x); }
__device__ __forceinline__ void put(int& out, int x) { out = x; }

/// What products of elements are summed in and written as.
template <class Element>
struct Sums {
  using Sum = float;
  using Output = Element;
};
template <>
struct Sums<std::int8_t> {
  using Sum = int;
  using Output = int;
};
__device__ __forceinline__ float factor(float x) { return x; }
__device__ __forceinline__ float factor(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ int factor(std::int8_t x) { return x; }

/// Calls f with a float or a bf16, whichever `kind` says.
template <class F>
void with_float_element(ElementKind kind, F f) {
  if (kind == ElementKind::kBf16) {
    f(__nv_bfloat16{});
  } else {
    f(float{});
  }
}

}  // namespace poolcast::cuda
