// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/descriptors.h"
#include "kernels/cuda/hopper.h"
#include "kernels/cuda/hopper_ptx.cuh"
#include "kernels/cuda/hopper_wgmma.cuh"
#include "kernels/cuda/ring.h"
#include "kernels/cuda/tiles.h"

// A block takes 128 query rows of one head. One thread of its first warpgroup asks the copy engine for Q once and then
// for K and V tiles of 128 tokens, page by page of the cache; its second and third warpgroups own 64 rows each.
// Each of these issues the scores of tile t before the values of tile t - 1, so that the exponentials of t run while
// the tensor cores still work on t - 1 (Shah et al., FlashAttention-3, 2024, "intra-warpgroup pipelining").
//
// Barriers, for K and for V, two stages each: full takes the producer's arrival and its bytes, empty one arrival of
// each of the eight consumer warps. See ring.h for the parities. Q has a full barrier alone, waited on once, parity 0.
namespace poolcast::cuda {
namespace {

constexpr int kHeadDim = 128;
constexpr int kTileQueries = 128;
constexpr int kTileKeys = 128;
constexpr int kStages = 2;
constexpr int kConsumerWarps = 8;
constexpr int kThreads = 384;
constexpr int kHalf = kTileKeys * kSwizzleRowBytes;  // bytes: 128 rows, 64 elements of the head dimension
constexpr int kTile = 2 * kHalf;                     // bytes of Q, of a K tile, of a V tile
constexpr int kShared = (1 + 2 * kStages) * kTile + kSwizzleAtomBytes + (1 + 4 * kStages) * 8;

struct Shared {
  std::uint32_t q;
  __device__ std::uint32_t keys(int stage) const { return q + (1 + stage) * kTile; }
  __device__ std::uint32_t values(int stage) const { return q + (1 + kStages + stage) * kTile; }
  __device__ std::uint32_t q_full() const { return q + (1 + 2 * kStages) * kTile; }
  __device__ std::uint32_t keys_full(int stage) const { return q_full() + 8 * (1 + stage); }
  __device__ std::uint32_t keys_empty(int stage) const { return q_full() + 8 * (1 + kStages + stage); }
  __device__ std::uint32_t values_full(int stage) const { return q_full() + 8 * (1 + 2 * kStages + stage); }
  __device__ std::uint32_t values_empty(int stage) const { return q_full() + 8 * (1 + 3 * kStages + stage); }
};

__device__ __forceinline__ void set_up_barriers(const Shared& shared) {
  mbarrier_init(shared.q_full(), 1);
  for (int s = 0; s < kStages; ++s) {
    mbarrier_init(shared.keys_full(s), 1);
    mbarrier_init(shared.values_full(s), 1);
    mbarrier_init(shared.keys_empty(s), kConsumerWarps);
    mbarrier_init(shared.values_empty(s), kConsumerWarps);
  }
  fence_mbarrier_init();
}

/// One K or V tile, page by page. Pages behind the last token are asked for outside the cache: they arrive as zeros and
/// count as bytes, so that every tile announces the same number.
__device__ __forceinline__ void fetch_pages(std::uint32_t destination, const TensorMap* map, std::uint32_t full,
                                            const PrefillAttention& a, int tile, int kv_head) {
  const int page_tokens = a.cache.block_tokens;
  const int pages = ceil_div(a.context + a.query, page_tokens);
  const int first = tile * (kTileKeys / page_tokens);
  mbarrier_arrive_expect(full, kTile);
  for (int i = 0; i < kTileKeys / page_tokens; ++i) {
    const int block = first + i < pages ? a.block_table[first + i] : a.cache.blocks;
    const std::uint32_t to = destination + i * page_tokens * kSwizzleRowBytes;
    tensor_load_4d(to, map, full, 0, kv_head, 0, block);
    tensor_load_4d(to + kHalf, map, full, kSwizzleRowBytes / 2, kv_head, 0, block);
  }
}

__device__ __forceinline__ void produce(const HopperPrefill& plan, const Shared& shared, int first_query, int head,
                                        int kv_head, int tiles) {
  mbarrier_arrive_expect(shared.q_full(), kTile);
  tensor_load_4d(shared.q, &plan.q_map, shared.q_full(), 0, head, first_query, 0);
  tensor_load_4d(shared.q + kHalf, &plan.q_map, shared.q_full(), kSwizzleRowBytes / 2, head, first_query, 0);
  RingPosition at;
  for (int tile = 0; tile < tiles; ++tile, at.advance(kStages)) {
    mbarrier_wait(shared.keys_empty(at.stage), at.empty_parity());
    fetch_pages(shared.keys(at.stage), &plan.k_map, shared.keys_full(at.stage), plan.attention, tile, kv_head);
    mbarrier_wait(shared.values_empty(at.stage), at.empty_parity());
    fetch_pages(shared.values(at.stage), &plan.v_map, shared.values_full(at.stage), plan.attention, tile, kv_head);
  }
}

/// s = Q K^T of one warpgroup's 64 rows and a tile of 128 tokens; committed, not waited for.
__device__ __forceinline__ void issue_scores(float (&s)[64], std::uint32_t q_rows, std::uint32_t keys) {
  const std::uint64_t q = wgmma_descriptor_k_major(q_rows), k = wgmma_descriptor_k_major(keys);
  hold(s);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    const int offset = step / 4 * (kHalf >> 4) + step % 4 * 2;
    wgmma_bf16(s, q + offset, k + offset, step > 0);
  }
  wgmma_commit();
}

/// out += P V; the weights are bf16 pairs in registers, sixteen tokens a step.
__device__ __forceinline__ void issue_values(float (&out)[64], const std::uint32_t (&weights)[8][4],
                                             std::uint32_t values, int add) {
  const std::uint64_t v = wgmma_descriptor_n_major(values, kHalf);
  hold(out);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kTileKeys / 16; ++step) {
    wgmma_bf16_weights(out, weights[step], v + step * (16 * kSwizzleRowBytes >> 4), add || step > 0);
  }
  wgmma_commit();
}

/// Turns scores into exponentials; returns by how much what was gathered before must be multiplied. `limit` is the last
/// token that the row `half` sees, counted from the tile's first.
__device__ __forceinline__ float renew_row(float (&s)[64], int half, int limit, float scale, float& maximum,
                                           float& sum) {
  const int column = 2 * (threadIdx.x % 4);
  float joint = maximum;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    float& one = s[4 * (i / 2) + 2 * half + i % 2];
    one = 8 * (i / 2) + column + i % 2 <= limit ? one * scale : -INFINITY;
    joint = fmaxf(joint, one);
  }
  joint = fmaxf(joint, __shfl_xor_sync(0xffffffffu, joint, 1));
  joint = fmaxf(joint, __shfl_xor_sync(0xffffffffu, joint, 2));
  const float factor = rescale(maximum, joint, exp2_fast);
  float added = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    float& one = s[4 * (i / 2) + 2 * half + i % 2];
    one = exp2_fast(one - joint);
    added += one;
  }
  sum = sum * factor + added;  // of this lane's columns; joined at the end
  maximum = joint;
  return factor;
}

__device__ __forceinline__ void pack_weights(std::uint32_t (&weights)[8][4], const float (&s)[64]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    weights[i / 4][i % 4] = pack_bf16(s[2 * i], s[2 * i + 1]);
  }
}

__device__ __forceinline__ void write_row(const PrefillAttention& a, const float (&out)[64], int half, int row,
                                          int head, float sum) {
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  if (row >= a.query) {
    return;
  }
  auto* to = static_cast<__nv_bfloat16*>(a.out) + (static_cast<long>(row) * a.heads + head) * kHeadDim;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    *reinterpret_cast<std::uint32_t*>(to + 8 * i + 2 * (threadIdx.x % 4)) =
        pack_bf16(out[4 * i + 2 * half] / sum, out[4 * i + 2 * half + 1] / sum);
  }
}

__device__ __forceinline__ void consume(const PrefillAttention& a, const Shared& shared, int first_query, int head,
                                        int tiles) {
  const int thread = threadIdx.x % 128, warpgroup = threadIdx.x / 128 - 1;
  const bool elected = threadIdx.x % 32 == 0;
  const int row = first_query + warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
  const float scale = 1.4426950408889634f * rsqrtf(static_cast<float>(kHeadDim));
  const std::uint32_t q_rows = shared.q + warpgroup * 64 * kSwizzleRowBytes;
  float s[64], out[64];
  std::uint32_t weights[8][4];
  float maximum[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0}, factor[2];

  const auto renew = [&](int tile) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      factor[half] = renew_row(s, half, a.context + row + 8 * half - tile * kTileKeys, scale, maximum[half], sum[half]);
    }
  };
  RingPosition keys, values;  // `values` stays one tile behind
  mbarrier_wait(shared.q_full(), 0);
  mbarrier_wait(shared.keys_full(keys.stage), keys.full_parity());
  issue_scores(s, q_rows, shared.keys(keys.stage));
  wgmma_wait<0>();
  hold(s);
  if (elected) {
    mbarrier_arrive(shared.keys_empty(keys.stage));
  }
  keys.advance(kStages);
  renew(0);
  pack_weights(weights, s);

  for (int tile = 1; tile < tiles; ++tile) {
    mbarrier_wait(shared.keys_full(keys.stage), keys.full_parity());
    issue_scores(s, q_rows, shared.keys(keys.stage));
    mbarrier_wait(shared.values_full(values.stage), values.full_parity());
    issue_values(out, weights, shared.values(values.stage), tile > 1);
    wgmma_wait<1>();
    hold(s);
    if (elected) {
      mbarrier_arrive(shared.keys_empty(keys.stage));
    }
    keys.advance(kStages);
    renew(tile);
    wgmma_wait<0>();
    hold(out);
    if (elected) {
      mbarrier_arrive(shared.values_empty(values.stage));
    }
    values.advance(kStages);
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      out[i] *= factor[i / 2 % 2];
    }
    pack_weights(weights, s);
  }
  mbarrier_wait(shared.values_full(values.stage), values.full_parity());
  issue_values(out, weights, shared.values(values.stage), tiles > 1);
  wgmma_wait<0>();
  hold(out);
  for (int half = 0; half < 2; ++half) {
    write_row(a, out, half, row + 8 * half, head, sum[half]);
  }
}

__global__ void __launch_bounds__(kThreads, 1) prefill_kernel(const __grid_constant__ HopperPrefill plan) {
  extern __shared__ unsigned char raw[];
  const PrefillAttention& a = plan.attention;
  const Shared shared{(shared_address(raw) + kSwizzleAtomBytes - 1) / kSwizzleAtomBytes * kSwizzleAtomBytes};
  const int query_tiles = ceil_div(a.query, kTileQueries);
  const int tile = query_tiles - 1 - blockIdx.x / a.heads;  // the rows that see most tokens first
  const int head = blockIdx.x % a.heads;
  const int first_query = tile * kTileQueries;
  const int tiles = causal_key_tiles(a.context, a.query, first_query + kTileQueries - 1, kTileKeys);
  if (threadIdx.x == 0) {
    set_up_barriers(shared);
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    give_registers<40>();
    if (threadIdx.x == 0) {
      produce(plan, shared, first_query, head, head / (a.heads / a.cache.kv_heads), tiles);
    }
  } else {
    take_registers<232>();
    consume(a, shared, first_query, head, tiles);
  }
}

TensorMap cache_map(const void* base, const PagedCache& cache) {
  const auto bytes = [](std::int64_t elements) { return static_cast<std::uint64_t>(elements) * 2; };
  return encode_tensor_map({base,
                            ElementKind::kBf16,
                            {kHeadDim, static_cast<std::uint64_t>(cache.kv_heads),
                             static_cast<std::uint64_t>(cache.block_tokens), static_cast<std::uint64_t>(cache.blocks)},
                            {bytes(cache.strides.head), bytes(cache.strides.token), bytes(cache.strides.block)},
                            {kSwizzleRowBytes / 2, 1, static_cast<std::uint32_t>(cache.block_tokens), 1}});
}

}  // namespace

const char* why_no_hopper_prefill(int head_dim, int block_tokens) {
  if (head_dim != kHeadDim) {
    return "head_dim must be 128";
  }
  const bool fits = block_tokens >= 8 && block_tokens <= kTileKeys && kTileKeys % block_tokens == 0;
  return fits ? "" : "block must be 8, 16, 32, 64 or 128 tokens";
}

HopperPrefill plan_hopper_prefill(const PrefillAttention& a) {
  const std::uint64_t row = static_cast<std::uint64_t>(a.heads) * kHeadDim * 2;
  return {a,
          encode_tensor_map({a.q,
                             ElementKind::kBf16,
                             {kHeadDim, static_cast<std::uint64_t>(a.heads), static_cast<std::uint64_t>(a.query), 1},
                             {kHeadDim * 2, row, row * static_cast<std::uint64_t>(a.query)},
                             {kSwizzleRowBytes / 2, 1, kTileQueries, 1}}),
          cache_map(a.cache.keys, a.cache), cache_map(a.cache.values, a.cache)};
}

void launch(const HopperPrefill& plan, Stream stream) {
  [[maybe_unused]] static const bool allowed = allow_shared(prefill_kernel, kShared);
  const int blocks = ceil_div(plan.attention.query, kTileQueries) * plan.attention.heads;
  prefill_kernel<<<blocks, kThreads, kShared, stream>>>(plan);
  check(cudaGetLastError());
}

}  // namespace poolcast::cuda
