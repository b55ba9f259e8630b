// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>

#include <cmath>

#include "kernels/hip/cdna.h"
#include "kernels/hip/device.h"
#include "kernels/hip/elements.hiph"
#include "kernels/hip/mfma.h"

// A block takes one part of a request's tokens for one KV head and up to 16 of its query heads. Each of its four waves
// takes every fourth chunk of 16 tokens. Scores are made transposed (tokens x heads): then each lane's four sums are
// exactly the four weights that it must give to the next instruction, values (elements x tokens) times weights (tokens
// x heads), and neither LDS nor shuffles lie between the two. Loads go straight to registers, one chunk ahead.
namespace poolcast::hip {
namespace {

constexpr int kWaves = 4;
constexpr int kChunk = 16;
constexpr int kRows = 16;

template <int kHeadDim>
struct Chunk {
  Four keys[kHeadDim / 16];
  std::uint16_t values[4][kHeadDim / 16];  // of four tokens, the elements of all tiles
};

/// This lane's part of the chunk that begins at `token`; zeros behind `end`.
template <int kHeadDim>
__device__ inline Chunk<kHeadDim> fetch(const Decode& d, const int* table, int kv_head, int token, int end) {
  const int lane = static_cast<int>(threadIdx.x) % kWave;
  const auto offset = [&](int t) {
    const long block = table[t / d.block_tokens];
    return ((block * d.kv_heads + kv_head) * d.block_tokens + t % d.block_tokens) * kHeadDim;
  };
  Chunk<kHeadDim> chunk = {};
  const int of_keys = token + operand_row(lane, 16);
  if (of_keys < end) {
    const std::uint16_t* row = d.keys + offset(of_keys);
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      chunk.keys[step] = *reinterpret_cast<const Four*>(row + decode_k(lane, step));
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int of_values = token + operand_k(lane, 16) + i;
    if (of_values < end) {
      const std::uint16_t* from = d.values + offset(of_values) + decode_element(operand_row(lane, 16), 0, kHeadDim);
      __builtin_memcpy(chunk.values[i], __builtin_assume_aligned(from, kHeadDim / 8), sizeof chunk.values[i]);
    }
  }
  return chunk;
}

/// Over the four lanes that hold the same query head.
template <class Combine>
__device__ inline float over_tokens(float x, Combine combine) {
  x = combine(x, __shfl_xor(x, 16));
  return combine(x, __shfl_xor(x, 32));
}

template <int kHeadDim>
struct Running {
  float maximum = -INFINITY;
  float sum = 0;                  // of this lane's tokens
  Sums4 out[kHeadDim / 16] = {};  // elements x heads
};

template <int kHeadDim>
__device__ inline void take(Running<kHeadDim>& running, const Chunk<kHeadDim>& chunk, const Four (&q)[kHeadDim / 16],
                            int valid) {
  const int lane = static_cast<int>(threadIdx.x) % kWave;
  const float scale = 1.4426950408889634f * rsqrtf(static_cast<float>(kHeadDim));
  Sums4 s = {};
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    s = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(chunk.keys[step], q[step], s, 0, 0, 0);
  }
  float joint = running.maximum;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    s[i] = sum_element(lane, i, 16).row < valid ? s[i] * scale : -INFINITY;
    joint = fmaxf(joint, s[i]);
  }
  joint = over_tokens(joint, [](float a, float b) { return fmaxf(a, b); });
  const float keep = exp2f(running.maximum - joint);  // the chunk has a valid token: joint is finite
  Four weights;
  running.sum *= keep;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float weight = exp2f(s[i] - joint);
    running.sum += weight;
    weights[i] = static_cast<short>(to_bf16(weight));
  }
  running.maximum = joint;
#pragma unroll
  for (int tile = 0; tile < kHeadDim / 16; ++tile) {
    Four values;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[i] = static_cast<short>(chunk.values[i][tile]);
    }
    running.out[tile] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(values, weights, running.out[tile] * keep, 0, 0, 0);
  }
}

__device__ inline float* part_of(const Decode& d, int request, int head, int split) {
  return d.workspace + ((static_cast<long>(request) * d.heads + head) * d.splits + split) * (d.head_dim + 2);
}

template <int kHeadDim>
__global__ void __launch_bounds__(kWaves* kWave) decode_kernel(const Decode d) {
  __shared__ float values[kWaves][kRows][kHeadDim], maxima[kWaves][kRows], sums[kWaves][kRows];
  const int lane = static_cast<int>(threadIdx.x) % kWave, wave = static_cast<int>(threadIdx.x) / kWave;
  const int group = d.heads / d.kv_heads, row_tiles = (group + kRows - 1) / kRows;
  const int kv_head = static_cast<int>(blockIdx.y) / row_tiles;
  const int first_row = static_cast<int>(blockIdx.y) % row_tiles * kRows;
  const int rows = min(kRows, group - first_row), first_head = kv_head * group + first_row;
  const int request = static_cast<int>(blockIdx.z), split = static_cast<int>(blockIdx.x);
  const int* table = d.block_tables + static_cast<long>(request) * d.blocks_per_request;
  const int chunks = (d.context + kChunk - 1) / kChunk;
  const int begin = static_cast<int>(static_cast<long>(chunks) * split / d.splits) * kChunk;
  const int end = min(static_cast<int>(static_cast<long>(chunks) * (split + 1) / d.splits) * kChunk, d.context);

  Four q[kHeadDim / 16] = {};
  const int row = operand_row(lane, 16);
  if (row < rows) {
    const std::uint16_t* from = d.q + (static_cast<long>(request) * d.heads + first_head + row) * kHeadDim;
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      q[step] = *reinterpret_cast<const Four*>(from + decode_k(lane, step));
    }
  }
  Running<kHeadDim> running;
  int token = begin + wave * kChunk;
  Chunk<kHeadDim> chunk = fetch<kHeadDim>(d, table, kv_head, token, end);
  for (; token < end; token += kWaves * kChunk) {
    const Chunk<kHeadDim> ahead = fetch<kHeadDim>(d, table, kv_head, token + kWaves * kChunk, end);
    take(running, chunk, q, end - token);
    chunk = ahead;
  }

  const float sum = over_tokens(running.sum, [](float a, float b) { return a + b; });
  maxima[wave][row] = running.maximum;
  sums[wave][row] = sum;
  for (int tile = 0; tile < kHeadDim / 16; ++tile) {
    for (int i = 0; i < 4; ++i) {
      values[wave][row][decode_element(sum_element(lane, i, 16).row, tile, kHeadDim)] = running.out[tile][i];
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < rows * kHeadDim; i += kWaves * kWave) {
    const int of = i / kHeadDim, element = i % kHeadDim;
    float joint = -INFINITY, total = 0, value = 0;
    for (int w = 0; w < kWaves; ++w) {
      joint = fmaxf(joint, maxima[w][of]);
    }
    for (int w = 0; w < kWaves; ++w) {
      const float keep = maxima[w][of] == joint ? 1.0f : exp2f(maxima[w][of] - joint);
      total += keep * sums[w][of];
      value += keep * values[w][of][element];
    }
    float* part = part_of(d, request, first_head + of, split);
    part[element] = value;
    if (element == 0) {
      part[kHeadDim] = joint;
      part[kHeadDim + 1] = total;
    }
  }
}

/// Joins the splits: one block per head and request, one thread per element.
__global__ void join_kernel(const Decode d) {
  const int head = static_cast<int>(blockIdx.x), request = static_cast<int>(blockIdx.y);
  float joint = -INFINITY, total = 0, value = 0;
  for (int split = 0; split < d.splits; ++split) {
    joint = fmaxf(joint, part_of(d, request, head, split)[d.head_dim]);
  }
  for (int split = 0; split < d.splits; ++split) {
    const float* part = part_of(d, request, head, split);
    const float keep = part[d.head_dim] == joint ? 1.0f : exp2f(part[d.head_dim] - joint);
    total += keep * part[d.head_dim + 1];
    value += keep * part[threadIdx.x];
  }
  d.out[(static_cast<long>(request) * d.heads + head) * d.head_dim + threadIdx.x] = to_bf16(value / total);
}

}  // namespace

void launch(const Decode& d) {
  const int row_tiles = (d.heads / d.kv_heads + kRows - 1) / kRows;
  const dim3 grid(static_cast<unsigned>(d.splits), static_cast<unsigned>(d.kv_heads * row_tiles),
                  static_cast<unsigned>(d.requests));
  if (d.head_dim == 64) {
    hipLaunchKernelGGL(decode_kernel<64>, grid, dim3(kWaves * kWave), 0, nullptr, d);
  } else {
    hipLaunchKernelGGL(decode_kernel<128>, grid, dim3(kWaves * kWave), 0, nullptr, d);
  }
  check_launch();
  hipLaunchKernelGGL(join_kernel, dim3(static_cast<unsigned>(d.heads), static_cast<unsigned>(d.requests)),
                     dim3(static_cast<unsigned>(d.head_dim)), 0, nullptr, d);
  check_launch();
}

}  // namespace poolcast::hip
