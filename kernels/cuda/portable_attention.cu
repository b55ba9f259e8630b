// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cmath>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/portable.h"
#include "kernels/cuda/tiles.h"

namespace poolcast::cuda {
namespace {

__device__ float power_of_two(float x) { return exp2f(x); }

// ---- Decode: a block for each request and query head; its four warps take every fourth token and join at the end.
// ----

constexpr int kWarps = 4;
constexpr int kPieces = kPortableMaxHeadDim / 32;  // elements of a head that a lane holds

template <class Element>
__global__ void __launch_bounds__(kWarps * 32) decode_kernel(const DecodeAttention a) {
  __shared__ float values[kWarps][kPortableMaxHeadDim], maxima[kWarps], sums[kWarps];
  const int head = blockIdx.x, request = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int head_dim = a.cache.head_dim, kv_head = head / (a.heads / a.cache.kv_heads);
  const int* table = a.block_tables + static_cast<long>(request) * a.blocks_per_request;
  const long row = (static_cast<long>(request) * a.heads + head) * head_dim;
  const float scale = 1.4426950408889634f * rsqrtf(static_cast<float>(head_dim));
  float q[kPieces], out[kPieces] = {}, maximum = -INFINITY, sum = 0;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int d = lane + 32 * i;
    q[i] = d < head_dim ? to_float(static_cast<const Element*>(a.q)[row + d]) * scale : 0.0f;
  }
  for (int token = warp; token < a.contexts[request]; token += kWarps) {
    const long at = paged_offset(table, a.cache.block_tokens, a.cache.strides, token, kv_head);
    float score = 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int d = lane + 32 * i;
      score += d < head_dim ? q[i] * to_float(static_cast<const Element*>(a.cache.keys)[at + d]) : 0.0f;
    }
    for (int step = 16; step > 0; step /= 2) {
      score += __shfl_xor_sync(0xffffffffu, score, step);
    }
    const float joint = fmaxf(maximum, score);
    const float keep = rescale(maximum, joint, power_of_two), weight = exp2f(score - joint);
    maximum = joint;
    sum = sum * keep + weight;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int d = lane + 32 * i;
      if (d < head_dim) {
        out[i] = out[i] * keep + weight * to_float(static_cast<const Element*>(a.cache.values)[at + d]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    values[warp][lane + 32 * i] = out[i];
  }
  maxima[warp] = maximum;
  sums[warp] = sum;
  __syncthreads();
  for (int d = threadIdx.x; d < head_dim; d += kWarps * 32) {
    float joint = -INFINITY, total = 0, value = 0;
    for (int w = 0; w < kWarps; ++w) {
      joint = fmaxf(joint, maxima[w]);
    }
    for (int w = 0; w < kWarps; ++w) {
      const float keep = rescale(maxima[w], joint, power_of_two);
      total += keep * sums[w];
      value += keep * values[w][d];
    }
    put(static_cast<Element*>(a.out)[row + d], value / total);
  }
}

// ---- Prefill: a block for 64 query rows of a head; tiles of 32 tokens pass through shared memory. ----

constexpr int kQueries = 64;
constexpr int kTokens = 32;
constexpr int kThreads = 256;
constexpr int kRows = 4;                         // query rows of a thread: 16 threads across, 16 down
constexpr int kDims = kPortableMaxHeadDim / 16;  // elements of a head that a thread holds

int prefill_shared_bytes(int head_dim) {
  return static_cast<int>(sizeof(float)) * ((kQueries + 2 * kTokens) * (head_dim + 1) + kQueries * (kTokens + 1));
}

template <class Element>
__device__ void load_rows(float* to, const Element* from, long stride, int rows, int present, int head_dim) {
  for (int i = threadIdx.x; i < rows * head_dim; i += kThreads) {
    const int row = i / head_dim, d = i % head_dim;
    to[row * (head_dim + 1) + d] = row < present ? to_float(from[row * stride + d]) : 0.0f;
  }
}

template <class Element>
__device__ void load_pages(float* keys, float* values, const PrefillAttention& a, int first_token, int kv_head) {
  const int head_dim = a.cache.head_dim;
  for (int i = threadIdx.x; i < kTokens * head_dim; i += kThreads) {
    const int token = first_token + i / head_dim, d = i % head_dim, to = i / head_dim * (head_dim + 1) + d;
    const bool present = token < a.context + a.query;
    const long at =
        present ? paged_offset(a.block_table, a.cache.block_tokens, a.cache.strides, token, kv_head) + d : 0;
    keys[to] = present ? to_float(static_cast<const Element*>(a.cache.keys)[at]) : 0.0f;
    values[to] = present ? to_float(static_cast<const Element*>(a.cache.values)[at]) : 0.0f;
  }
}

template <class Element>
__global__ void __launch_bounds__(kThreads) prefill_kernel(const PrefillAttention a) {
  extern __shared__ float shared[];
  const int head_dim = a.cache.head_dim, pitch = head_dim + 1;
  float* q = shared;
  float* keys = q + kQueries * pitch;
  float* values = keys + kTokens * pitch;
  float* weights = values + kTokens * pitch;  // [kQueries][kTokens + 1]
  const int head = blockIdx.x, first_query = blockIdx.y * kQueries;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const long row_stride = static_cast<long>(a.heads) * head_dim;
  const float scale = 1.4426950408889634f * rsqrtf(static_cast<float>(head_dim));
  load_rows(q, static_cast<const Element*>(a.q) + first_query * row_stride + static_cast<long>(head) * head_dim,
            row_stride, kQueries, min(kQueries, a.query - first_query), head_dim);
  float out[kRows][kDims] = {}, maximum[kRows], sum[kRows] = {};
  for (float& one : maximum) {
    one = -INFINITY;
  }
  const int tiles = causal_key_tiles(a.context, a.query, first_query + kQueries - 1, kTokens);
  for (int tile = 0; tile < tiles; ++tile) {
    __syncthreads();  // the tile before has been read
    load_pages<Element>(keys, values, a, tile * kTokens, head / (a.heads / a.cache.kv_heads));
    __syncthreads();
    float keep[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int row = y * kRows + i, last = a.context + first_query + row - tile * kTokens;
      float score[2] = {};
#pragma unroll 4
      for (int d = 0; d < head_dim; ++d) {
        score[0] += q[row * pitch + d] * keys[x * pitch + d];
        score[1] += q[row * pitch + d] * keys[(x + 16) * pitch + d];
      }
      score[0] = x <= last ? score[0] * scale : -INFINITY;
      score[1] = x + 16 <= last ? score[1] * scale : -INFINITY;
      float joint = fmaxf(maximum[i], fmaxf(score[0], score[1]));
      for (int step = 8; step > 0; step /= 2) {
        joint = fmaxf(joint, __shfl_xor_sync(0xffffffffu, joint, step));
      }
      const float first = exp2f(score[0] - joint), second = exp2f(score[1] - joint);
      weights[row * (kTokens + 1) + x] = first;
      weights[row * (kTokens + 1) + x + 16] = second;
      keep[i] = rescale(maximum[i], joint, power_of_two);
      sum[i] = sum[i] * keep[i] + first + second;  // of this thread's columns; joined at the end
      maximum[i] = joint;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kDims; ++j) {
      const int d = x + 16 * j;
      if (d < head_dim) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          float value = out[i][j] * keep[i];
#pragma unroll 4  // quick to compile
          for (int token = 0; token < kTokens; ++token) {
            value += weights[(y * kRows + i) * (kTokens + 1) + token] * values[token * pitch + d];
          }
          out[i][j] = value;
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    float total = sum[i];
    for (int step = 8; step > 0; step /= 2) {
      total += __shfl_xor_sync(0xffffffffu, total, step);
    }
    const int row = first_query + y * kRows + i;
#pragma unroll
    for (int j = 0; j < kDims; ++j) {
      const int d = x + 16 * j;
      if (row < a.query && d < head_dim) {
        put(static_cast<Element*>(a.out)[row * row_stride + static_cast<long>(head) * head_dim + d], out[i][j] / total);
      }
    }
  }
}

}  // namespace

void launch_portable(const DecodeAttention& a, Stream stream) {
  with_float_element(a.cache.kind, [&](auto one) {
    decode_kernel<decltype(one)><<<dim3(a.heads, a.requests), kWarps * 32, 0, stream>>>(a);
  });
  check(cudaGetLastError());
}

void launch_portable(const PrefillAttention& a, Stream stream) {
  const int shared = prefill_shared_bytes(a.cache.head_dim);
  with_float_element(a.cache.kind, [&](auto one) {
    auto* kernel = prefill_kernel<decltype(one)>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    kernel<<<dim3(a.heads, ceil_div(a.query, kQueries)), kThreads, shared, stream>>>(a);
  });
  check(cudaGetLastError());
}

}  // namespace poolcast::cuda
