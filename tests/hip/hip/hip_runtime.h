// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/cuda/emulation/emulation.h"
#include "tests/hip/matrix.h"

// The words of HIP that the kernels use.
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define threadIdx poolcast::emulation::thread_index
#define blockIdx poolcast::emulation::block_index
#define gridDim poolcast::emulation::grid_size
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
  poolcast::emulation::launch(grid, block, shared_bytes, [&] { (kernel)(__VA_ARGS__); })
#pragma GCC diagnostic ignored "-Wunknown-pragmas"  // unroll

using dim3 = poolcast::emulation::Dim;
struct float2 {
  float x, y;
};
struct alignas(8) uint2 {
  std::uint32_t x, y;
};
struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};
inline uint2 make_uint2(std::uint32_t x, std::uint32_t y) { return {x, y}; }
inline uint4 make_uint4(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) { return {x, y, z, w}; }

using std::max;
using std::min;
inline float __expf(float x) { return std::exp(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __uint_as_float(std::uint32_t x) { return std::bit_cast<float>(x); }
inline std::uint32_t __float_as_uint(float x) { return std::bit_cast<std::uint32_t>(x); }

inline void __syncthreads() { poolcast::emulation::meet(poolcast::emulation::Meeting::kBlock); }

/// Over the 64 lanes of the wave, all of which must take part here.
template <class T>
T __shfl_xor(T value, int flip) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  const int from = poolcast::emulation::linear_thread() % poolcast::emulation::warp_lanes ^ flip;
  const std::uint64_t given = poolcast::emulation::exchange(bits)[from];
  __builtin_memcpy(&value, &given, sizeof value);
  return value;
}
