// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/cuda/blackwell.h"
#include "kernels/cuda/blackwell_ptx.cuh"
#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/descriptors.h"
#include "kernels/cuda/hopper_ptx.cuh"
#include "kernels/cuda/ring.h"
#include "kernels/cuda/tiles.h"

// One block per multiprocessor stays for the whole product. Warp 0 asks the copy engine for tiles, warp 1 issues the
// multiplications (one thread each), warp 2 owns the tensor memory, warps 4 to 7 carry finished accumulators out. Two
// accumulators fill the tensor memory, so that one is carried out while the next is being summed.
//
// Barriers: full[s] takes the producer's arrival and its bytes; empty[s] one arrival by tcgen05.commit, when the
// multiplications have read the stage; done[a] one arrival by tcgen05.commit after a tile's last multiplication;
// free[a] one arrival of each of the four warps that carry out. See ring.h for the parities.
namespace poolcast::cuda {
namespace {

constexpr int kTileRows = kProductTileRows;
constexpr int kBand = 8;
constexpr int kTileK = 64;
constexpr int kAccumulators = 2;
constexpr int kThreads = 256;
constexpr int kTmemColumns = 512;

template <int kTileColumns>
struct Shared {
  static constexpr int kStages = kTileColumns == 256 ? 4 : 6;
  static constexpr int kBytesA = kTileRows * kSwizzleRowBytes;
  static constexpr int kBytesW = kTileColumns * kSwizzleRowBytes;
  static constexpr int kBytes =
      kStages * (kBytesA + kBytesW) + kSwizzleAtomBytes + (2 * kStages + 2 * kAccumulators) * 8 + 8;
  std::uint32_t base;
  __device__ std::uint32_t a(int stage) const { return base + stage * kBytesA; }
  __device__ std::uint32_t w(int stage) const { return base + kStages * kBytesA + stage * kBytesW; }
  __device__ std::uint32_t full(int stage) const { return base + kStages * (kBytesA + kBytesW) + stage * 8; }
  __device__ std::uint32_t empty(int stage) const { return full(kStages) + stage * 8; }
  __device__ std::uint32_t done(int accumulator) const { return empty(kStages) + accumulator * 8; }
  __device__ std::uint32_t free(int accumulator) const { return done(kAccumulators) + accumulator * 8; }
  __device__ std::uint32_t tmem_slot() const { return free(kAccumulators); }
};

template <int kTileColumns>
__device__ __forceinline__ void set_up_barriers(const Shared<kTileColumns>& shared) {
  for (int s = 0; s < shared.kStages; ++s) {
    mbarrier_init(shared.full(s), 1);
    mbarrier_init(shared.empty(s), 1);
  }
  for (int a = 0; a < kAccumulators; ++a) {
    mbarrier_init(shared.done(a), 1);
    mbarrier_init(shared.free(a), 4);
  }
  fence_mbarrier_init();
}

template <int kTileColumns>
__device__ __forceinline__ void produce(const Shared<kTileColumns>& shared, const Product& p, const TensorMap* a_map,
                                        const TensorMap* w_map, GroupCursor cursor) {
  GroupTile tile;
  RingPosition at;
  for (int index = blockIdx.x; cursor.seek(index, tile); index += gridDim.x) {
    for (int k = 0; k < p.k; k += kTileK, at.advance(shared.kStages)) {
      const std::uint32_t barrier = shared.full(at.stage);
      mbarrier_wait(shared.empty(at.stage), at.empty_parity());
      mbarrier_arrive_expect(barrier, shared.kBytesA + shared.kBytesW);
      tensor_load(shared.a(at.stage), a_map, barrier, k, tile.row_begin);
      tensor_load(shared.w(at.stage), w_map, barrier, k, tile.group * p.n + tile.n * kTileColumns);
    }
  }
}

template <int kTileColumns>
__device__ __forceinline__ void multiply(const Shared<kTileColumns>& shared, const Product& p, GroupCursor cursor,
                                         std::uint32_t tmem) {
  constexpr std::uint32_t kInstruction = tcgen05_instruction_bf16(kTileRows, kTileColumns);
  GroupTile tile;
  RingPosition at, accumulator;
  for (int index = blockIdx.x; cursor.seek(index, tile); index += gridDim.x, accumulator.advance(kAccumulators)) {
    mbarrier_wait(shared.free(accumulator.stage), accumulator.empty_parity());
    tcgen05_after_meeting();
    const std::uint32_t sums = tmem_address(tmem, 0, accumulator.stage * kTileColumns);
    for (int k = 0; k < p.k; k += kTileK, at.advance(shared.kStages)) {
      mbarrier_wait(shared.full(at.stage), at.full_parity());
      tcgen05_after_meeting();
      const std::uint64_t a = tcgen05_descriptor_k_major(shared.a(at.stage));
      const std::uint64_t w = tcgen05_descriptor_k_major(shared.w(at.stage));
#pragma unroll
      for (int step = 0; step < kTileK / 16; ++step) {
        tcgen05_mma_bf16(sums, a + 2 * step, w + 2 * step, kInstruction, k + step > 0);
      }
      tcgen05_commit(shared.empty(at.stage));
    }
    tcgen05_commit(shared.done(accumulator.stage));
  }
}

/// 32 columns of one row; whole 16 bytes where the row keeps them aligned.
__device__ __forceinline__ void store_row(const Product& p, int row, int column, const std::uint32_t (&sums)[32]) {
  auto* out = static_cast<__nv_bfloat16*>(p.c) + static_cast<long>(row) * p.n + column;
  if (p.n % 8 == 0 && column + 32 <= p.n) {
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
      uint4 packed;
      packed.x = pack_bf16(__uint_as_float(sums[i]), __uint_as_float(sums[i + 1]));
      packed.y = pack_bf16(__uint_as_float(sums[i + 2]), __uint_as_float(sums[i + 3]));
      packed.z = pack_bf16(__uint_as_float(sums[i + 4]), __uint_as_float(sums[i + 5]));
      packed.w = pack_bf16(__uint_as_float(sums[i + 6]), __uint_as_float(sums[i + 7]));
      *reinterpret_cast<uint4*>(out + i) = packed;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      if (column + i < p.n) {
        out[i] = __float2bfloat16(__uint_as_float(sums[i]));
      }
    }
  }
}

template <int kTileColumns>
__device__ __forceinline__ void carry_out(const Shared<kTileColumns>& shared, const Product& p, GroupCursor cursor,
                                          std::uint32_t tmem) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  GroupTile tile;
  RingPosition accumulator;
  for (int index = blockIdx.x; cursor.seek(index, tile); index += gridDim.x, accumulator.advance(kAccumulators)) {
    mbarrier_wait(shared.done(accumulator.stage), accumulator.full_parity());
    tcgen05_after_meeting();
    const int row = tile.row_begin + warp * 32 + lane;
    for (int column = 0; column < kTileColumns; column += 32) {
      std::uint32_t sums[32];
      tmem_load_32(sums, tmem_address(tmem, warp * 32, accumulator.stage * kTileColumns + column));
      tmem_wait_load(sums);
      if (row < tile.row_end) {
        store_row(p, row, tile.n * kTileColumns + column, sums);
      }
    }
    tcgen05_before_meeting();
    __syncwarp();
    if (lane == 0) {
      mbarrier_arrive(shared.free(accumulator.stage));
    }
  }
}

template <int kTileColumns>
__global__ void __launch_bounds__(kThreads, 1)
    product_kernel(const Product p, const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap w_map) {
  extern __shared__ unsigned char raw[];
  const std::uint32_t address = shared_address(raw);
  const Shared<kTileColumns> shared{(address + kSwizzleAtomBytes - 1) / kSwizzleAtomBytes * kSwizzleAtomBytes};
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    set_up_barriers(shared);
    prefetch_tensor_map(&a_map);
    prefetch_tensor_map(&w_map);
  }
  if (warp == 2) {
    tmem_allocate(shared.tmem_slot(), kTmemColumns);
    tmem_no_more_allocations();
  }
  tcgen05_before_meeting();
  __syncthreads();
  tcgen05_after_meeting();
  const std::uint32_t tmem = *reinterpret_cast<const volatile std::uint32_t*>(raw + (shared.tmem_slot() - address));
  const GroupCursor cursor(p.offsets, p.groups, kTileRows, ceil_div(p.n, kTileColumns), kBand);
  if (threadIdx.x == 0) {
    produce(shared, p, &a_map, &w_map, cursor);
  } else if (threadIdx.x == 32) {
    multiply(shared, p, cursor, tmem);
  } else if (warp >= 4) {
    carry_out(shared, p, cursor, tmem);
  }
  __syncwarp();
  tcgen05_before_meeting();
  __syncthreads();
  if (warp == 2) {
    tcgen05_after_meeting();
    tmem_free(tmem, kTmemColumns);
  }
}

template <int kTileColumns>
void launch_product(const PlannedProduct& plan, Stream stream) {
  constexpr int kShared = Shared<kTileColumns>::kBytes;
  auto* kernel = product_kernel<kTileColumns>;
  [[maybe_unused]] static const bool allowed = allow_shared(kernel, kShared);
  kernel<<<plan.blocks, kThreads, kShared, stream>>>(plan.product, plan.a_map, plan.w_map);
  check(cudaGetLastError());
}

}  // namespace

void launch_blackwell(const PlannedProduct& plan, Stream stream) {
  plan.wide ? launch_product<256>(plan, stream) : launch_product<128>(plan, stream);
}

}  // namespace poolcast::cuda
