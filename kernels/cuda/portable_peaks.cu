// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/hopper_ptx.cuh"
#include "kernels/cuda/peak_loops.h"

namespace poolcast::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksEach = 4;  // per multiprocessor
constexpr int kChains = 8;      // independent sums of a thread, so that latency is hidden

__global__ void __launch_bounds__(kThreads) fma_kernel(int rounds, float* sink) {
  float sums[2 * kChains];
  const float a = 0.999f + 1e-6f * threadIdx.x, b = 0.5f + 1e-3f * threadIdx.x;
#pragma unroll
  for (int i = 0; i < 2 * kChains; ++i) {
    sums[i] = static_cast<float>(i);
  }
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 2 * kChains; ++i) {
      sums[i] = fmaf(sums[i], a, b);
    }
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < 2 * kChains; ++i) {
    total += sums[i];
  }
  if (total == 12345.678f) {
    *sink = total;
  }
}

/// bf16 pairs between 1 and 2 in size, of both signs.
__device__ __forceinline__ std::uint32_t some_bf16(std::uint32_t seed) {
  const std::uint32_t bits = (seed + 1) * 2654435761u;
  return (bits & 0x807F807Fu) | 0x3F803F80u;
}

__global__ void __launch_bounds__(kThreads) mma_bf16_kernel(int rounds, float* sink) {
  float sums[kChains][4] = {};
  std::uint32_t a[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = some_bf16(threadIdx.x * 6 + i);
  }
  const std::uint32_t b0 = some_bf16(threadIdx.x * 6 + 4), b1 = some_bf16(threadIdx.x * 6 + 5);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      mma_16x8x16(sums[i], a, b0, b1);
    }
  }
  float total = 0;
  for (const auto& one : sums) {
    total += one[0] + one[1] + one[2] + one[3];
  }
  if (total == 12345.678f) {
    *sink = total;
  }
}

__device__ __forceinline__ void mma_int8_16x8x32(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                                 std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(kThreads) mma_int8_kernel(int rounds, float* sink) {
  int sums[kChains][4] = {};
  std::uint32_t a[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = (threadIdx.x * 6 + i + 1) * 2654435761u;
  }
  const std::uint32_t b0 = (threadIdx.x + 7) * 2246822519u, b1 = (threadIdx.x + 9) * 3266489917u;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      mma_int8_16x8x32(sums[i], a, b0, b1);
    }
  }
  int total = 0;
  for (const auto& one : sums) {
    total += one[0] + one[1] + one[2] + one[3];
  }
  if (total == 123456789) {
    *sink = static_cast<float>(total);
  }
}

__global__ void __launch_bounds__(1024) read_kernel(const uint4* from, std::size_t pieces, float* sink) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::uint32_t bits = 0;
  std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  for (; i + 3 * step < pieces; i += 4 * step) {
    const uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
    bits ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  for (; i < pieces; i += step) {
    bits ^= from[i].x ^ from[i].w;
  }
  if (bits == 0x12345678u) {
    *sink = 1;
  }
}

__global__ void __launch_bounds__(1024) copy_kernel(const uint4* from, uint4* to, std::size_t pieces) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  for (; i + 3 * step < pieces; i += 4 * step) {
    const uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
    to[i] = a;
    to[i + step] = b;
    to[i + 2 * step] = c;
    to[i + 3 * step] = d;
  }
  for (; i < pieces; i += step) {
    to[i] = from[i];
  }
}

__global__ void fill_kernel(std::uint32_t* to, std::size_t words) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < words; i += step) {
    to[i] = some_bf16(static_cast<std::uint32_t>(i));
  }
}

}  // namespace

double launch_fma_fp32(int multiprocessors, int rounds, float* sink, Stream stream) {
  const int blocks = multiprocessors * kBlocksEach;
  fma_kernel<<<blocks, kThreads, 0, stream>>>(rounds, sink);
  check(cudaGetLastError());
  return 2.0 * 2 * kChains * rounds * blocks * kThreads;
}

double launch_mma_bf16(int multiprocessors, int rounds, float* sink, Stream stream) {
  const int blocks = multiprocessors * kBlocksEach;
  mma_bf16_kernel<<<blocks, kThreads, 0, stream>>>(rounds, sink);
  check(cudaGetLastError());
  return 2.0 * 16 * 8 * 16 * kChains * rounds * blocks * (kThreads / 32);
}

double launch_mma_int8(int multiprocessors, int rounds, float* sink, Stream stream) {
  const int blocks = multiprocessors * kBlocksEach;
  mma_int8_kernel<<<blocks, kThreads, 0, stream>>>(rounds, sink);
  check(cudaGetLastError());
  return 2.0 * 16 * 8 * 32 * kChains * rounds * blocks * (kThreads / 32);
}

void launch_read(const void* from, std::size_t bytes, int multiprocessors, float* sink, Stream stream) {
  read_kernel<<<2 * multiprocessors, 1024, 0, stream>>>(static_cast<const uint4*>(from), bytes / 16, sink);
  check(cudaGetLastError());
}

void launch_copy(const void* from, void* to, std::size_t bytes, int multiprocessors, Stream stream) {
  copy_kernel<<<2 * multiprocessors, 1024, 0, stream>>>(static_cast<const uint4*>(from), static_cast<uint4*>(to),
                                                        bytes / 16);
  check(cudaGetLastError());
}

void launch_fill_random(void* to, std::size_t bytes, Stream stream) {
  fill_kernel<<<1024, 256, 0, stream>>>(static_cast<std::uint32_t*>(to), bytes / 4);
  check(cudaGetLastError());
}

}  // namespace poolcast::cuda
