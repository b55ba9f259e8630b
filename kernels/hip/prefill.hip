// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>

#include <cmath>

#include "kernels/hip/cdna.h"
#include "kernels/hip/device.h"
#include "kernels/hip/elements.hiph"
#include "kernels/hip/mfma.h"

// A block takes one KV head and 128 rows, of which a row is a query token with one of the head's query heads; each of
// its four waves has 32 of them. Tiles of 32 tokens pass through LDS, values turned; the next tile is on its way into
// registers meanwhile. Scores are made transposed (tokens x rows), so that a lane's sixteen sums belong to one row and
// are the weights that it must give to values (elements x tokens) times weights (tokens x rows).
namespace poolcast::hip {
namespace {

constexpr int kThreads = 256;
constexpr int kWaveRows = 32;
constexpr int kRows = kThreads / kWave * kWaveRows;
constexpr int kTokens = 32;
constexpr int kPad = 4;  // elements: 8-byte reads of 32 rows meet few bank conflicts
constexpr int kValuesPitch = kTokens + kPad;

/// This thread's part of a tile: pieces of 8 elements of keys; of values the same 4 elements of 4 tokens.
template <int kHeadDim>
struct Ahead {
  uint4 keys[kHeadDim * kTokens / 8 / kThreads];
  uint2 values[4];
};

template <int kHeadDim>
constexpr bool has_values(int thread) {
  return thread < kHeadDim / 4 * (kTokens / 4);
}

/// Zeros from token `end` on: what lies there may be no number.
template <int kHeadDim>
__device__ inline Ahead<kHeadDim> fetch(const Prefill& p, int first_token, int end) {
  const int thread = static_cast<int>(threadIdx.x);
  const auto offset = [&](int t) {
    const long block = p.block_table[t / p.block_tokens];
    return ((block * p.kv_heads + static_cast<int>(blockIdx.y)) * p.block_tokens + t % p.block_tokens) * kHeadDim;
  };
  Ahead<kHeadDim> ahead = {};
#pragma unroll
  for (int i = 0; i < kHeadDim * kTokens / 8 / kThreads; ++i) {
    const int at = thread + i * kThreads, token = first_token + at / (kHeadDim / 8);
    if (token < end) {
      ahead.keys[i] = *reinterpret_cast<const uint4*>(p.keys + offset(token) + at % (kHeadDim / 8) * 8);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int token = first_token + thread / (kHeadDim / 4) * 4 + i;
    if (has_values<kHeadDim>(thread) && token < end) {
      ahead.values[i] = *reinterpret_cast<const uint2*>(p.values + offset(token) + thread % (kHeadDim / 4) * 4);
    }
  }
  return ahead;
}

template <int kHeadDim>
__device__ inline void lay(const Ahead<kHeadDim>& ahead, std::uint16_t* keys, std::uint16_t* values) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < kHeadDim * kTokens / 8 / kThreads; ++i) {
    const int at = thread + i * kThreads;
    auto* to = reinterpret_cast<uint2*>(keys + at / (kHeadDim / 8) * (kHeadDim + kPad) + at % (kHeadDim / 8) * 8);
    to[0] = make_uint2(ahead.keys[i].x, ahead.keys[i].y);
    to[1] = make_uint2(ahead.keys[i].z, ahead.keys[i].w);
  }
  if (!has_values<kHeadDim>(thread)) {
    return;
  }
  const int first_element = thread % (kHeadDim / 4) * 4, first_token = thread / (kHeadDim / 4) * 4;
#pragma unroll
  for (int element = 0; element < 4; ++element) {
    Four turned;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t pair = element < 2 ? ahead.values[i].x : ahead.values[i].y;
      turned[i] = static_cast<short>(pair >> element % 2 * 16);
    }
    *reinterpret_cast<Four*>(values + (first_element + element) * kValuesPitch + first_token) = turned;
  }
}

/// Of the row that this lane shares with the lane 32 away.
template <int kHeadDim>
struct Running {
  float maximum = -INFINITY;
  float sum = 0;                   // of this lane's tokens
  Sums16 out[kHeadDim / 32] = {};  // elements x rows
};

/// The row sees the first `visible` tokens of the tile.
template <int kHeadDim>
__device__ inline void take(Running<kHeadDim>& running, const std::uint16_t* keys, const std::uint16_t* values,
                            const Four (&q)[kHeadDim / 8], int visible) {
  const int lane = static_cast<int>(threadIdx.x) % kWave;
  const int operand = operand_row(lane, 32), k = operand_k(lane, 32);
  const float scale = 1.4426950408889634f * rsqrtf(static_cast<float>(kHeadDim));
  Sums16 s = {};
#pragma unroll
  for (int step = 0; step < kHeadDim / 8; ++step) {
    const Four of_keys = *reinterpret_cast<const Four*>(keys + operand * (kHeadDim + kPad) + step * 8 + k);
    s = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(of_keys, q[step], s, 0, 0, 0);
  }
  float joint = running.maximum;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    s[i] = sum_element(lane, i, 32).row < visible ? s[i] * scale : -INFINITY;
    joint = fmaxf(joint, s[i]);
  }
  joint = fmaxf(joint, __shfl_xor(joint, 32));
  const float keep = exp2f(running.maximum - joint);  // each row sees token 0, so joint is finite
  running.maximum = joint;
  running.sum *= keep;
  Four weights[4];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const float weight = exp2f(s[i] - joint);
    running.sum += weight;
    weights[i / 4][i % 4] = static_cast<short>(to_bf16(weight));
  }
#pragma unroll
  for (int tile = 0; tile < kHeadDim / 32; ++tile) {
    running.out[tile] *= keep;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const Four of_values =
          *reinterpret_cast<const Four*>(values + (tile * 32 + operand) * kValuesPitch + step * 8 + k);
      running.out[tile] =
          __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(of_values, weights[step], running.out[tile], 0, 0, 0);
    }
  }
}

template <int kHeadDim>
__global__ void __launch_bounds__(kThreads) prefill_kernel(const Prefill p) {
  __shared__ __align__(16) std::uint16_t keys[kTokens * (kHeadDim + kPad)], values[kHeadDim * kValuesPitch];
  const int lane = static_cast<int>(threadIdx.x) % kWave, wave = static_cast<int>(threadIdx.x) / kWave;
  const int group = p.heads / p.kv_heads, rows = p.query * group;
  const int block_row = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;  // those that see most come first
  const int wave_row = block_row + wave * kWaveRows, row = wave_row + operand_row(lane, 32);
  const auto seen_by = [&](int of_row) { return p.context + min(of_row, rows - 1) / group + 1; };
  const int end = seen_by(block_row + kRows - 1), wave_end = seen_by(wave_row + kWaveRows - 1), seen = seen_by(row);
  const long at =
      (static_cast<long>(row / group) * p.heads + static_cast<int>(blockIdx.y) * group + row % group) * kHeadDim;

  Four q[kHeadDim / 8] = {};
  if (row < rows) {
#pragma unroll
    for (int step = 0; step < kHeadDim / 8; ++step) {
      q[step] = *reinterpret_cast<const Four*>(p.q + at + step * 8 + operand_k(lane, 32));
    }
  }
  Running<kHeadDim> running;
  Ahead<kHeadDim> ahead = fetch<kHeadDim>(p, 0, end);
  for (int token = 0; token < end; token += kTokens) {
    __syncthreads();  // the tile before has been read
    lay(ahead, keys, values);
    __syncthreads();
    ahead = fetch<kHeadDim>(p, token + kTokens, end);
    if (token < wave_end) {
      take(running, keys, values, q, seen - token);
    }
  }
  const float share = 1.0f / (running.sum + __shfl_xor(running.sum, 32));
  if (row >= rows) {
    return;
  }
  for (int tile = 0; tile < kHeadDim / 32; ++tile) {
    for (int i = 0; i < 16; i += 4) {
      Four four;
      for (int j = 0; j < 4; ++j) {
        four[j] = static_cast<short>(to_bf16(running.out[tile][i + j] * share));
      }
      *reinterpret_cast<Four*>(p.out + at + tile * 32 + sum_element(lane, i, 32).row) = four;
    }
  }
}

}  // namespace

void launch(const Prefill& p) {
  const int rows = p.query * (p.heads / p.kv_heads);
  const dim3 grid(static_cast<unsigned>((rows + kRows - 1) / kRows), static_cast<unsigned>(p.kv_heads));
  if (p.head_dim == 64) {
    hipLaunchKernelGGL(prefill_kernel<64>, grid, dim3(kThreads), 0, nullptr, p);
  } else {
    hipLaunchKernelGGL(prefill_kernel<128>, grid, dim3(kThreads), 0, nullptr, p);
  }
  check_launch();
}

}  // namespace poolcast::hip
