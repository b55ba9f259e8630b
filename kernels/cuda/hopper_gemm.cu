// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/descriptors.h"
#include "kernels/cuda/hopper.h"
#include "kernels/cuda/hopper_ptx.cuh"
#include "kernels/cuda/hopper_wgmma.cuh"
#include "kernels/cuda/ring.h"
#include "kernels/cuda/tiles.h"

// One block per multiprocessor stays for the whole product. Its first warpgroup only asks the copy engine for tiles of
// A and W (one thread does), its second and third each own 64 rows of the 128-row tile and only multiply. While they
// store a finished tile the next one's operands are already arriving.
//
// Barriers: full[s] takes one arrival (the producer's, which announces the bytes) and completes when they have landed.
// empty[s] takes one arrival of each of the eight consumer warps. See ring.h for the parities.
namespace poolcast::cuda {
namespace {

constexpr int kTileRows = kProductTileRows;
constexpr int kBand = 8;
constexpr int kConsumerWarps = 8;
constexpr int kThreads = 384;

template <class Element, int kTileColumns>
struct Shape {
  static constexpr int kTileK = kSwizzleRowBytes / sizeof(Element);
  static constexpr int kBytesA = kTileRows * kSwizzleRowBytes;
  static constexpr int kBytesW = kTileColumns * kSwizzleRowBytes;
  static constexpr int kStages = kTileColumns == 256 ? 4 : 6;
  static constexpr int kShared = kStages * (kBytesA + kBytesW) + kSwizzleAtomBytes + 2 * kStages * 8;
};

__device__ __forceinline__ void multiply(float (&d)[128], std::uint64_t a, std::uint64_t w, int add) {
  wgmma_bf16(d, a, w, add);
}
__device__ __forceinline__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t w, int add) {
  wgmma_bf16(d, a, w, add);
}
__device__ __forceinline__ void multiply(int (&d)[128], std::uint64_t a, std::uint64_t w, int add) {
  wgmma_int8(d, a, w, add);
}
__device__ __forceinline__ void multiply(int (&d)[64], std::uint64_t a, std::uint64_t w, int add) {
  wgmma_int8(d, a, w, add);
}

/// Two neighbouring columns of one row; a pair is stored at once where rows keep pairs aligned.
__device__ __forceinline__ void store_pair(void* c, long at, float first, float second, bool both, bool aligned) {
  auto* out = static_cast<__nv_bfloat16*>(c) + at;
  if (both && aligned) {
    *reinterpret_cast<std::uint32_t*>(out) = pack_bf16(first, second);
  } else {
    out[0] = __float2bfloat16(first);
    if (both) {
      out[1] = __float2bfloat16(second);
    }
  }
}
__device__ __forceinline__ void store_pair(void* c, long at, int first, int second, bool both, bool aligned) {
  auto* out = static_cast<int*>(c) + at;
  if (both && aligned) {
    *reinterpret_cast<int2*>(out) = make_int2(first, second);
  } else {
    out[0] = first;
    if (both) {
      out[1] = second;
    }
  }
}

template <class Accumulator, int kCount>
__device__ __forceinline__ void store_tile(const Product& p, const GroupTile& tile, int first_column, int warpgroup,
                                           const Accumulator (&sums)[kCount]) {
  const int thread = threadIdx.x % 128;
  const int row = tile.row_begin + warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
  const bool aligned = p.n % 2 == 0;
#pragma unroll
  for (int i = 0; i < kCount / 4; ++i) {
    const int column = first_column + 8 * i + 2 * (thread % 4);
    if (column < p.n) {
      const bool both = column + 1 < p.n;
      if (row < tile.row_end) {
        store_pair(p.c, static_cast<long>(row) * p.n + column, sums[4 * i], sums[4 * i + 1], both, aligned);
      }
      if (row + 8 < tile.row_end) {
        store_pair(p.c, static_cast<long>(row + 8) * p.n + column, sums[4 * i + 2], sums[4 * i + 3], both, aligned);
      }
    }
  }
}

template <class Element, class Accumulator, int kTileColumns>
__global__ void __launch_bounds__(kThreads, 1)
    product_kernel(const Product p, const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap w_map) {
  using S = Shape<Element, kTileColumns>;
  extern __shared__ unsigned char raw[];
  const std::uint32_t tiles = (shared_address(raw) + kSwizzleAtomBytes - 1) / kSwizzleAtomBytes * kSwizzleAtomBytes;
  const std::uint32_t a_tiles = tiles;
  const std::uint32_t w_tiles = tiles + S::kStages * S::kBytesA;
  const std::uint32_t full = w_tiles + S::kStages * S::kBytesW;  // kStages barriers of 8 bytes
  const std::uint32_t empty = full + S::kStages * 8;

  if (threadIdx.x == 0) {
    for (int s = 0; s < S::kStages; ++s) {
      mbarrier_init(full + 8 * s, 1);
      mbarrier_init(empty + 8 * s, kConsumerWarps);
    }
    fence_mbarrier_init();
    prefetch_tensor_map(&a_map);
    prefetch_tensor_map(&w_map);
  }
  __syncthreads();

  const int k_tiles = ceil_div(p.k, S::kTileK);
  GroupCursor cursor(p.offsets, p.groups, kTileRows, ceil_div(p.n, kTileColumns), kBand);
  GroupTile tile;
  RingPosition at;
  const int warpgroup = threadIdx.x / 128;

  if (warpgroup == 0) {
    give_registers<40>();
    if (threadIdx.x == 0) {
      for (int index = blockIdx.x; cursor.seek(index, tile); index += gridDim.x) {
        for (int k = 0; k < k_tiles; ++k, at.advance(S::kStages)) {
          const std::uint32_t barrier = full + 8 * at.stage;
          mbarrier_wait(empty + 8 * at.stage, at.empty_parity());
          mbarrier_arrive_expect(barrier, S::kBytesA + S::kBytesW);
          tensor_load(a_tiles + at.stage * S::kBytesA, &a_map, barrier, k * S::kTileK, tile.row_begin);
          tensor_load(w_tiles + at.stage * S::kBytesW, &w_map, barrier, k * S::kTileK,
                      tile.group * p.n + tile.n * kTileColumns);
        }
      }
    }
  } else {
    take_registers<232>();
    for (int index = blockIdx.x; cursor.seek(index, tile); index += gridDim.x) {
      Accumulator sums[kTileColumns / 2];  // the first wgmma writes instead of adding
      std::uint32_t previous = 0;
      for (int k = 0; k < k_tiles; ++k, at.advance(S::kStages)) {
        mbarrier_wait(full + 8 * at.stage, at.full_parity());
        const std::uint64_t a = wgmma_descriptor_k_major(a_tiles + at.stage * S::kBytesA + (warpgroup - 1) * 64 * 128);
        const std::uint64_t w = wgmma_descriptor_k_major(w_tiles + at.stage * S::kBytesW);
        hold(sums);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < 4; ++step) {
          multiply(sums, a + 2 * step, w + 2 * step, k + step > 0);
        }
        wgmma_commit();
        wgmma_wait<1>();  // the stage before this one has been read by this warp
        if (k > 0 && threadIdx.x % 32 == 0) {
          mbarrier_arrive(empty + 8 * previous);
        }
        previous = at.stage;
      }
      wgmma_wait<0>();
      hold(sums);
      if (threadIdx.x % 32 == 0) {
        mbarrier_arrive(empty + 8 * previous);
      }
      store_tile(p, tile, tile.n * kTileColumns, warpgroup - 1, sums);
    }
  }
}

template <class Element, class Accumulator, int kTileColumns>
void launch_product(const PlannedProduct& plan, Stream stream) {
  constexpr int kShared = Shape<Element, kTileColumns>::kShared;
  auto* kernel = product_kernel<Element, Accumulator, kTileColumns>;
  [[maybe_unused]] static const bool allowed = allow_shared(kernel, kShared);
  kernel<<<plan.blocks, kThreads, kShared, stream>>>(plan.product, plan.a_map, plan.w_map);
  check(cudaGetLastError());
}

}  // namespace

void launch_hopper(const PlannedProduct& plan, Stream stream) {
  if (plan.product.kind == ElementKind::kInt8) {
    plan.wide ? launch_product<std::int8_t, int, 256>(plan, stream)
              : launch_product<std::int8_t, int, 128>(plan, stream);
  } else {
    plan.wide ? launch_product<__nv_bfloat16, float, 256>(plan, stream)
              : launch_product<__nv_bfloat16, float, 128>(plan, stream);
  }
}

}  // namespace poolcast::cuda
