// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels/cuda/blackwell_ptx.cuh"
#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/descriptors.h"
#include "kernels/cuda/hopper_ptx.cuh"
#include "kernels/cuda/peak_loops.h"

// One thread on each multiprocessor multiplies the same two tiles of shared memory again and again: 128 x 256 outputs,
// four steps of 16 along k a round. A commit every kBatch rounds keeps the queue of the tensor core short.
namespace poolcast::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kBytesA = 128 * kSwizzleRowBytes;
constexpr int kBytesB = 256 * kSwizzleRowBytes;
constexpr int kShared = kBytesA + kBytesB + kSwizzleAtomBytes + 16;
constexpr int kColumns = 256;
constexpr int kBatch = 16;

__global__ void __launch_bounds__(kThreads, 1) tcgen05_kernel(int rounds, float* sink) {
  extern __shared__ unsigned char raw[];
  const std::uint32_t start = shared_address(raw);
  const std::uint32_t base = (start + kSwizzleAtomBytes - 1) / kSwizzleAtomBytes * kSwizzleAtomBytes;
  const std::uint32_t barrier = base + kBytesA + kBytesB, slot = barrier + 8;
  auto* words = reinterpret_cast<std::uint32_t*>(raw + (base - start));
  for (int i = threadIdx.x; i < (kBytesA + kBytesB) / 4; i += kThreads) {
    words[i] = ((i + 1) * 2654435761u & 0x807F807Fu) | 0x3F803F80u;  // bf16 between 1 and 2 in size, both signs
  }
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
  }
  if (threadIdx.x < 32) {
    tmem_allocate(slot, kColumns);
    tmem_no_more_allocations();
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // ordinary stores, read by the tensor core
  tcgen05_before_meeting();
  __syncthreads();
  tcgen05_after_meeting();
  const std::uint32_t tmem = *reinterpret_cast<const volatile std::uint32_t*>(raw + (slot - start));
  if (threadIdx.x == 0) {
    const std::uint64_t a = tcgen05_descriptor_k_major(base), b = tcgen05_descriptor_k_major(base + kBytesA);
    for (int round = 0; round < rounds; round += kBatch) {
      for (int i = 0; i < kBatch; ++i) {
#pragma unroll
        for (int step = 0; step < 4; ++step) {
          tcgen05_mma_bf16(tmem, a + 2 * step, b + 2 * step, tcgen05_instruction_bf16(128, 256), round + i + step > 0);
        }
      }
      tcgen05_commit(barrier);
      mbarrier_wait(barrier, round / kBatch & 1);
    }
  }
  __syncthreads();
  tcgen05_after_meeting();
  if (threadIdx.x < 32) {
    std::uint32_t sums[32];
    tmem_load_32(sums, tmem);
    tmem_wait_load(sums);
    if (__uint_as_float(sums[0]) == 12345.678f) {
      *sink = 1;
    }
    tmem_free(tmem, kColumns);
  }
}

}  // namespace

double launch_tcgen05_bf16(int multiprocessors, int rounds, float* sink, Stream stream) {
  check(cudaFuncSetAttribute(tcgen05_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  tcgen05_kernel<<<multiprocessors, kThreads, kShared, stream>>>(rounds, sink);
  check(cudaGetLastError());
  const double whole_rounds = (rounds + kBatch - 1) / kBatch * kBatch;
  return 2.0 * 128 * 256 * 64 * whole_rounds * multiprocessors;
}

}  // namespace poolcast::cuda
