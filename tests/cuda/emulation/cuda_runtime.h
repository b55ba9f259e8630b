// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/cuda/emulation/cuda_runtime_api.h"
#include "tests/cuda/emulation/emulation.h"

// The words of CUDA C++ that the kernels use.
#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) alignas(bytes)
#define threadIdx poolcast::emulation::thread_index
#define blockIdx poolcast::emulation::block_index
#define blockDim poolcast::emulation::block_size
#define gridDim poolcast::emulation::grid_size
#pragma GCC diagnostic ignored "-Wunknown-pragmas"  // unroll

using dim3 = poolcast::emulation::Dim;
struct int2 {
  int x, y;
};
struct float2 {
  float x, y;
};
struct uint4 {
  std::uint32_t x, y, z, w;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }

using std::max;
using std::min;
inline float __expf(float x) { return std::exp(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __uint_as_float(std::uint32_t x) { return std::bit_cast<float>(x); }

inline void __syncthreads() { poolcast::emulation::meet(poolcast::emulation::Meeting::kBlock); }
inline void __syncwarp() { poolcast::emulation::meet(poolcast::emulation::Meeting::kWarp); }
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  const std::uint64_t given = poolcast::emulation::exchange(bits)[lane];
  __builtin_memcpy(&value, &given, sizeof value);
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip) {
  return __shfl_sync(mask, value, poolcast::emulation::linear_thread() % 32 ^ flip);
}
inline bool __any_sync(unsigned, bool value) {
  const std::uint64_t* given = poolcast::emulation::exchange(value);
  return std::any_of(given, given + 32, [](std::uint64_t one) { return one != 0; });
}
