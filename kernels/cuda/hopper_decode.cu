// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/fragments.h"
#include "kernels/cuda/hopper.h"
#include "kernels/cuda/hopper_ptx.cuh"

// Decode reads every key and value once and does little with them, so all is arranged for loads in flight. A block
// takes one part of one request's tokens for one KV head, with up to 16 of its query heads as the rows of the matrix
// instruction: K and V are read once for all of them. Its four warps share nothing until the end: each takes every
// fourth chunk of 16 tokens, keeps a ring of its own that cp.async fills, and holds its own running softmax.
namespace poolcast::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kChunk = 16;  // tokens
constexpr int kStages = 3;
constexpr int kRows = 16;  // query heads of a block

template <int kHeadDim>
struct WarpRing {
  static constexpr int kTile = kChunk * kHeadDim * 2;  // bytes of K, and of V
  std::uint32_t base;                                  // kStages times K and V
  __device__ std::uint32_t keys(int stage) const { return base + stage * 2 * kTile; }
  __device__ std::uint32_t values(int stage) const { return keys(stage) + kTile; }
};

/// Asks for one chunk. Lane r < 16 holds in `offset` where token r lies, or -1 behind the end.
template <int kHeadDim>
__device__ __forceinline__ void fetch(const WarpRing<kHeadDim>& ring, int stage, const PagedCache& cache, long offset) {
  constexpr int kPieces = kHeadDim / 8;      // 16-byte pieces of a row
  constexpr int kRowsAtOnce = 32 / kPieces;  // rows that the warp fetches at once
  const int lane = threadIdx.x % 32;
  const int piece = lane % kPieces;
#pragma unroll
  for (int i = 0; i < kChunk / kRowsAtOnce; ++i) {
    const int row = i * kRowsAtOnce + lane / kPieces;
    const long at = __shfl_sync(0xffffffffu, offset, row);
    const int bytes = at < 0 ? 0 : 16;
    const long from = (at < 0 ? 0 : at) + piece * 8;
    const std::uint32_t to = piece_offset(kHeadDim, row, piece);
    copy_async_16(ring.keys(stage) + to, static_cast<const __nv_bfloat16*>(cache.keys) + from, bytes);
    copy_async_16(ring.values(stage) + to, static_cast<const __nv_bfloat16*>(cache.values) + from, bytes);
  }
}

/// Running softmax of the two rows that a lane holds, and their weighted values.
template <int kHeadDim>
struct Running {
  float maximum[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};
  float out[kHeadDim / 8][4] = {};
};

template <int kHeadDim>
__device__ __forceinline__ void load_queries(std::uint32_t (&q)[kHeadDim / 16][4], const __nv_bfloat16* first,
                                             int rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Element at = left_element(lane, i);
      const auto* pair = reinterpret_cast<const std::uint32_t*>(first + at.row * kHeadDim + step * 16 + at.column);
      q[step][i] = at.row < rows ? *pair : 0u;
    }
  }
}

/// Scores of 16 rows against the 16 tokens of a chunk.
template <int kHeadDim>
__device__ __forceinline__ void score(float (&s)[2][4], const std::uint32_t (&q)[kHeadDim / 16][4],
                                      std::uint32_t keys) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    std::uint32_t k[4];
    const Piece piece = key_piece(lane, step);
    load_matrices(k, keys + piece_offset(kHeadDim, piece.row, piece.piece));
    mma_16x8x16(s[0], q[step], k[0], k[1]);
    mma_16x8x16(s[1], q[step], k[2], k[3]);
  }
}

/// Scales and masks the scores, renews the maxima and sums, rescales what was gathered, and leaves exponentials in `s`.
template <int kHeadDim>
__device__ __forceinline__ void renew(Running<kHeadDim>& running, float (&s)[2][4], float scale, int valid) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float joint = running.maximum[half];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& one = s[i / 2][2 * half + i % 2];
      one = i / 2 * 8 + 2 * (lane % 4) + i % 2 < valid ? one * scale : -INFINITY;
      joint = fmaxf(joint, one);
    }
    joint = fmaxf(joint, __shfl_xor_sync(0xffffffffu, joint, 1));
    joint = fmaxf(joint, __shfl_xor_sync(0xffffffffu, joint, 2));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& one = s[i / 2][2 * half + i % 2];
      one = exp2_fast(one - joint);
      sum += one;
    }
    const float factor = rescale(running.maximum[half], joint, exp2_fast);
    running.sum[half] = running.sum[half] * factor + sum;  // of this lane's columns; joined at the end
    running.maximum[half] = joint;
    if (__any_sync(0xffffffffu, factor != 1.0f)) {
#pragma unroll
      for (int tile = 0; tile < kHeadDim / 8; ++tile) {
        running.out[tile][2 * half] *= factor;
        running.out[tile][2 * half + 1] *= factor;
      }
    }
  }
}

template <int kHeadDim>
__device__ __forceinline__ void gather(Running<kHeadDim>& running, const float (&s)[2][4], std::uint32_t values) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t weights[4] = {pack_bf16(s[0][0], s[0][1]), pack_bf16(s[0][2], s[0][3]),
                                    pack_bf16(s[1][0], s[1][1]), pack_bf16(s[1][2], s[1][3])};
#pragma unroll
  for (int pair = 0; pair < kHeadDim / 16; ++pair) {
    std::uint32_t v[4];
    const Piece piece = value_piece(lane, pair);
    load_matrices_transposed(v, values + piece_offset(kHeadDim, piece.row, piece.piece));
    mma_16x8x16(running.out[2 * pair], weights, v[0], v[1]);
    mma_16x8x16(running.out[2 * pair + 1], weights, v[2], v[3]);
  }
}

/// The four warps' rows, joined in shared memory: values first, then maxima and sums.
template <int kHeadDim>
struct Joined {
  float out[kWarps][kRows][kHeadDim];
  float maximum[kWarps][kRows];
  float sum[kWarps][kRows];
};

template <int kHeadDim>
__device__ __forceinline__ void deposit(Joined<kHeadDim>& joined, Running<kHeadDim>& running) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane / 4 + 8 * half;
    float sum = running.sum[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    joined.maximum[warp][row] = running.maximum[half];
    joined.sum[warp][row] = sum;
#pragma unroll
    for (int tile = 0; tile < kHeadDim / 8; ++tile) {
      *reinterpret_cast<float2*>(&joined.out[warp][row][tile * 8 + 2 * (lane % 4)]) =
          make_float2(running.out[tile][2 * half], running.out[tile][2 * half + 1]);
    }
  }
}

/// Workspace of one (request, head, split): head_dim sums, then the maximum and the sum of exponentials.
__device__ __forceinline__ float* part_of(float* workspace, int request, int heads, int head, int splits, int split,
                                          int head_dim) {
  return workspace + ((static_cast<long>(request) * heads + head) * splits + split) * (head_dim + 2);
}

template <int kHeadDim>
__device__ __forceinline__ void write_rows(const Joined<kHeadDim>& joined, const HopperDecode& plan, int request,
                                           int first_head, int rows) {
  const DecodeAttention& a = plan.attention;
  for (int i = threadIdx.x; i < rows * kHeadDim; i += kWarps * 32) {
    const int row = i / kHeadDim, column = i % kHeadDim;
    float joint = -INFINITY, sum = 0, value = 0;
    for (int w = 0; w < kWarps; ++w) {
      joint = fmaxf(joint, joined.maximum[w][row]);
    }
    for (int w = 0; w < kWarps; ++w) {
      const float factor = rescale(joined.maximum[w][row], joint, exp2_fast);
      sum += factor * joined.sum[w][row];
      value += factor * joined.out[w][row][column];
    }
    const int head = first_head + row;
    if (plan.splits == 1) {
      static_cast<__nv_bfloat16*>(a.out)[(static_cast<long>(request) * a.heads + head) * kHeadDim + column] =
          __float2bfloat16(value / sum);
    } else {
      float* part = part_of(plan.workspace, request, a.heads, head, plan.splits, blockIdx.x, kHeadDim);
      part[column] = value;
      if (column == 0) {
        part[kHeadDim] = joint;
        part[kHeadDim + 1] = sum;
      }
    }
  }
}

template <int kHeadDim>
__global__ void __launch_bounds__(kWarps * 32) decode_kernel(const HopperDecode plan) {
  extern __shared__ __align__(128) unsigned char raw[];
  const DecodeAttention& a = plan.attention;
  const int group = a.heads / a.cache.kv_heads;
  const int row_tiles = (group + kRows - 1) / kRows;
  const int kv_head = blockIdx.y / row_tiles;
  const int first_row = blockIdx.y % row_tiles * kRows;
  const int rows = min(kRows, group - first_row);
  const int first_head = kv_head * group + first_row;
  const int request = blockIdx.z;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const TokenRange range = split_range(a.contexts[request], plan.splits, blockIdx.x, kChunk);
  const int* table = a.block_tables + static_cast<long>(request) * a.blocks_per_request;
  const WarpRing<kHeadDim> ring{shared_address(raw) + warp * kStages * 2 * WarpRing<kHeadDim>::kTile};

  std::uint32_t q[kHeadDim / 16][4];
  load_queries<kHeadDim>(
      q, static_cast<const __nv_bfloat16*>(a.q) + (static_cast<long>(request) * a.heads + first_head) * kHeadDim, rows);
  const float scale = 1.4426950408889634f * rsqrtf(static_cast<float>(kHeadDim));

  const auto offset_of = [&](int chunk) -> long {
    const int token = range.begin + (chunk * kWarps + warp) * kChunk + lane % kChunk;
    return token < range.end ? paged_offset(table, a.cache.block_tokens, a.cache.strides, token, kv_head) : -1;
  };
  // Chunks of this warp; every stage is committed even if it fetches nothing, so that counts of groups stay in step.
  const int chunks_in_range = (range.end - range.begin + kChunk - 1) / kChunk;
  const int chunks = chunks_in_range > warp ? (chunks_in_range - warp + kWarps - 1) / kWarps : 0;
  for (int chunk = 0; chunk < kStages - 1; ++chunk) {
    if (chunk < chunks) {
      fetch(ring, chunk, a.cache, offset_of(chunk));
    }
    copy_async_commit();
  }
  Running<kHeadDim> running;
  long ahead = offset_of(kStages - 1);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    copy_async_wait<kStages - 2>();
    __syncwarp();  // the other lanes' pieces too; and all lanes have read the stage that is fetched into next
    if (chunk + kStages - 1 < chunks) {
      fetch(ring, (chunk + kStages - 1) % kStages, a.cache, ahead);
      ahead = offset_of(chunk + kStages);
    }
    copy_async_commit();
    float s[2][4] = {};
    score<kHeadDim>(s, q, ring.keys(chunk % kStages));
    renew(running, s, scale, range.end - (range.begin + (chunk * kWarps + warp) * kChunk));
    gather(running, s, ring.values(chunk % kStages));
  }
  copy_async_wait<0>();
  __syncthreads();
  auto& joined = *reinterpret_cast<Joined<kHeadDim>*>(raw);
  deposit(joined, running);
  __syncthreads();
  write_rows(joined, plan, request, first_head, rows);
}

/// Joins the splits: one block per request and head, one thread per element.
__global__ void join_splits(const HopperDecode plan) {
  const DecodeAttention& a = plan.attention;
  const int head = blockIdx.x, request = blockIdx.y, head_dim = blockDim.x;
  float joint = -INFINITY, sum = 0, value = 0;
  for (int split = 0; split < plan.splits; ++split) {
    joint = fmaxf(joint, part_of(plan.workspace, request, a.heads, head, plan.splits, split, head_dim)[head_dim]);
  }
  for (int split = 0; split < plan.splits; ++split) {
    const float* part = part_of(plan.workspace, request, a.heads, head, plan.splits, split, head_dim);
    const float factor = rescale(part[head_dim], joint, exp2_fast);
    sum += factor * part[head_dim + 1];
    value += factor * part[threadIdx.x];
  }
  static_cast<__nv_bfloat16*>(a.out)[(static_cast<long>(request) * a.heads + head) * head_dim + threadIdx.x] =
      __float2bfloat16(value / sum);
}

template <int kHeadDim>
void launch_decode(const HopperDecode& plan, Stream stream) {
  constexpr int kRing = kWarps * kStages * 2 * WarpRing<kHeadDim>::kTile;
  constexpr int kShared = kRing > static_cast<int>(sizeof(Joined<kHeadDim>)) ? kRing : sizeof(Joined<kHeadDim>);
  const DecodeAttention& a = plan.attention;
  const int row_tiles = (a.heads / a.cache.kv_heads + kRows - 1) / kRows;
  [[maybe_unused]] static const bool allowed = allow_shared(decode_kernel<kHeadDim>, kShared);
  decode_kernel<kHeadDim>
      <<<dim3(plan.splits, a.cache.kv_heads * row_tiles, a.requests), kWarps * 32, kShared, stream>>>(plan);
  check(cudaGetLastError());
  if (plan.splits > 1) {
    join_splits<<<dim3(a.heads, a.requests), kHeadDim, 0, stream>>>(plan);
    check(cudaGetLastError());
  }
}

int splits_of(const DecodeAttention& a, int multiprocessors) {
  const int row_tiles = (a.heads / a.cache.kv_heads + kRows - 1) / kRows;
  return choose_splits(a.longest_context, a.requests * a.cache.kv_heads * row_tiles, multiprocessors,
                       kWarps * kChunk * kStages);
}

}  // namespace

long workspace_floats(const DecodeAttention& a, int multiprocessors) {
  return static_cast<long>(a.requests) * a.heads * splits_of(a, multiprocessors) * (a.cache.head_dim + 2);
}

HopperDecode plan_hopper_decode(const DecodeAttention& attention, int multiprocessors, float* workspace) {
  return {attention, splits_of(attention, multiprocessors), workspace};
}

void launch(const HopperDecode& plan, Stream stream) {
  plan.attention.cache.head_dim == 64 ? launch_decode<64>(plan, stream) : launch_decode<128>(plan, stream);
}

}  // namespace poolcast::cuda
