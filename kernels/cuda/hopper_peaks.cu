// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/descriptors.h"
#include "kernels/cuda/hopper_ptx.cuh"
#include "kernels/cuda/hopper_wgmma.cuh"
#include "kernels/cuda/peak_loops.h"

// Two warpgroups on each multiprocessor multiply the same two tiles of shared memory again and again: 64 x 256 outputs
// each, four steps of 32 bytes along k a round.
namespace poolcast::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBytesA = 64 * kSwizzleRowBytes;
constexpr int kBytesB = 256 * kSwizzleRowBytes;
constexpr int kShared = 2 * kBytesA + kBytesB + kSwizzleAtomBytes;

__device__ __forceinline__ void multiply(float (&d)[128], std::uint64_t a, std::uint64_t b) { wgmma_bf16(d, a, b, 1); }
__device__ __forceinline__ void multiply(int (&d)[128], std::uint64_t a, std::uint64_t b) { wgmma_int8(d, a, b, 1); }

template <class Sum>
__global__ void __launch_bounds__(kThreads, 1) wgmma_kernel(int rounds, float* sink) {
  extern __shared__ unsigned char raw[];
  const std::uint32_t base = (shared_address(raw) + kSwizzleAtomBytes - 1) / kSwizzleAtomBytes * kSwizzleAtomBytes;
  auto* words = reinterpret_cast<std::uint32_t*>(raw + (base - shared_address(raw)));
  for (int i = threadIdx.x; i < (2 * kBytesA + kBytesB) / 4; i += kThreads) {
    words[i] = ((i + 1) * 2654435761u & 0x807F807Fu) | 0x3F803F80u;  // bf16 between 1 and 2 in size, both signs
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // ordinary stores, read by the tensor cores
  __syncthreads();
  const std::uint64_t a = wgmma_descriptor_k_major(base + threadIdx.x / 128 * kBytesA);
  const std::uint64_t b = wgmma_descriptor_k_major(base + 2 * kBytesA);
  Sum sums[128] = {};
  hold(sums);
  for (int round = 0; round < rounds; ++round) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      multiply(sums, a + 2 * step, b + 2 * step);
    }
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>();
  hold(sums);
  Sum total = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    total += sums[i];
  }
  if (total == Sum(123456789)) {
    *sink = static_cast<float>(total);
  }
}

template <class Sum>
double launch(int multiprocessors, int rounds, int step_k, float* sink, Stream stream) {
  check(cudaFuncSetAttribute(wgmma_kernel<Sum>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  wgmma_kernel<Sum><<<multiprocessors, kThreads, kShared, stream>>>(rounds, sink);
  check(cudaGetLastError());
  return 2.0 * 64 * 256 * step_k * 4 * rounds * multiprocessors * (kThreads / 128);
}

}  // namespace

double launch_wgmma_bf16(int multiprocessors, int rounds, float* sink, Stream stream) {
  return launch<float>(multiprocessors, rounds, 16, sink, stream);
}

double launch_wgmma_int8(int multiprocessors, int rounds, float* sink, Stream stream) {
  return launch<int>(multiprocessors, rounds, 32, sink, stream);
}

}  // namespace poolcast::cuda
