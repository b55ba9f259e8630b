// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/portable.h"

namespace poolcast::cuda {
namespace {

constexpr int kThreads = 256;

template <class Element>
__global__ void rotary_kernel(const Rotary r) {
  const int half = r.head_dim / 2;
  const long pairs = static_cast<long>(r.tokens) * r.heads * half;
  for (long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x; i < pairs;
       i += static_cast<long>(gridDim.x) * kThreads) {
    const long head = i / half, token = head / r.heads;
    const int d = static_cast<int>(i % half);
    const float2 turn = reinterpret_cast<const float2*>(r.turns)[token * half + d];
    const auto* in = static_cast<const Element*>(r.in) + head * r.head_dim;
    auto* out = static_cast<Element*>(r.out) + head * r.head_dim;
    const float first = to_float(in[d]), second = to_float(in[d + half]);
    put(out[d], first * turn.x - second * turn.y);
    put(out[d + half], second * turn.x + first * turn.y);
  }
}

/// Grid: tokens.
template <class Element>
__global__ void store_kernel(const TokenStore s) {
  const int width = s.kv_heads * s.head_dim;
  const long from = static_cast<long>(blockIdx.x) * width, slot = s.slots[blockIdx.x];
  for (int i = threadIdx.x; i < width; i += kThreads) {
    const long row = (slot / s.block * s.kv_heads + i / s.head_dim) * s.block + slot % s.block;
    const long to = row * s.head_dim + i % s.head_dim;
    static_cast<Element*>(s.keys)[to] = static_cast<const Element*>(s.k)[from + i];
    static_cast<Element*>(s.values)[to] = static_cast<const Element*>(s.v)[from + i];
  }
}

/// Grid: blocks of the cache, then K and V.
template <class Word>
__global__ void block_copy_kernel(const BlockCopy c) {
  const long words = c.block_bytes / static_cast<long>(sizeof(Word));
  auto* cache = static_cast<Word*>(blockIdx.y == 0 ? c.keys : c.values);
  const Word* from = cache + c.from[blockIdx.x] * words;
  Word* to = cache + c.to[blockIdx.x] * words;
  for (long i = threadIdx.x; i < words; i += kThreads) {
    to[i] = from[i];
  }
}

template <class Word>
__global__ void gather_kernel(const RowGather g) {
  const long words = g.row_bytes / static_cast<long>(sizeof(Word));
  const auto* from = static_cast<const Word*>(g.from) + g.row_of[blockIdx.x] * words;
  auto* to = static_cast<Word*>(g.to) + blockIdx.x * words;
  for (long i = threadIdx.x; i < words; i += kThreads) {
    to[i] = from[i];
  }
}

template <class Element>
__global__ void all_reduce_kernel(const AllReduce r, int rank) {
  const long begin = r.elements * rank / r.ranks, end = r.elements * (rank + 1) / r.ranks;
  for (long i = begin + blockIdx.x * static_cast<long>(kThreads) + threadIdx.x; i < end;
       i += static_cast<long>(gridDim.x) * kThreads) {
    float sum = 0;
    for (int other = 0; other < r.ranks; ++other) {
      sum += to_float(static_cast<const Element*>(r.in[other])[i]);
    }
    for (int other = 0; other < r.ranks; ++other) {
      put(static_cast<Element*>(r.out[other])[i], sum);
    }
  }
}

constexpr int kSide = 32;

/// A tile of kSide x kSide passes through shared memory, so that reads and writes both run along rows.
template <class Word>
__global__ void transpose_kernel(const Word* from, Word* to, int rows, int columns) {
  __shared__ Word tile[kSide][kSide + 1];
  const long matrix = static_cast<long>(blockIdx.z) * rows * columns;
  const int column = blockIdx.x * kSide + threadIdx.x;
  const long last_tile = (rows + kSide - 1) / kSide;
  for (long band = blockIdx.y; band < last_tile; band += gridDim.y) {
    for (int i = threadIdx.y; i < kSide; i += 8) {
      const long row = band * kSide + i;
      if (row < rows && column < columns) {
        tile[i][threadIdx.x] = from[matrix + row * columns + column];
      }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < kSide; i += 8) {
      const long row = band * kSide + threadIdx.x, to_row = static_cast<long>(blockIdx.x) * kSide + i;
      if (row < rows && to_row < columns) {
        to[matrix + to_row * rows + row] = tile[threadIdx.x][i];
      }
    }
    __syncthreads();
  }
}

template <class Word>
void transpose(const void* from, void* to, int rows, int columns, int groups, Stream stream) {
  const int bands = (rows + kSide - 1) / kSide;
  const dim3 grid((columns + kSide - 1) / kSide, bands < 65535 ? bands : 65535, groups);
  transpose_kernel<<<grid, dim3(kSide, 8), 0, stream>>>(static_cast<const Word*>(from), static_cast<Word*>(to), rows,
                                                        columns);
}

int blocks_for(long items) {
  const long blocks = (items + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < 4096 ? blocks : 4096);
}

}  // namespace

void launch_transpose(const void* from, void* to, int rows, int columns, int groups, int element_bytes, Stream stream) {
  switch (element_bytes) {
    case 1:
      transpose<std::uint8_t>(from, to, rows, columns, groups, stream);
      break;
    case 2:
      transpose<std::uint16_t>(from, to, rows, columns, groups, stream);
      break;
    default:
      transpose<std::uint32_t>(from, to, rows, columns, groups, stream);
      break;
  }
  check(cudaGetLastError());
}

void launch_rotary(const Rotary& r, Stream stream) {
  const int blocks = blocks_for(static_cast<long>(r.tokens) * r.heads * (r.head_dim / 2));
  with_float_element(r.kind, [&](auto one) { rotary_kernel<decltype(one)><<<blocks, kThreads, 0, stream>>>(r); });
  check(cudaGetLastError());
}

void launch_store(const TokenStore& s, Stream stream) {
  with_float_element(s.kind, [&](auto one) { store_kernel<decltype(one)><<<s.tokens, kThreads, 0, stream>>>(s); });
  check(cudaGetLastError());
}

void launch_block_copy(const BlockCopy& c, Stream stream) {
  if (c.block_bytes % 16 == 0) {
    block_copy_kernel<uint4><<<dim3(c.count, 2), kThreads, 0, stream>>>(c);
  } else {
    block_copy_kernel<char><<<dim3(c.count, 2), kThreads, 0, stream>>>(c);
  }
  check(cudaGetLastError());
}

void launch_gather(const RowGather& g, Stream stream) {
  if (g.row_bytes % 16 == 0) {
    gather_kernel<uint4><<<g.rows, kThreads, 0, stream>>>(g);
  } else {
    gather_kernel<char><<<g.rows, kThreads, 0, stream>>>(g);
  }
  check(cudaGetLastError());
}

void launch_all_reduce(const AllReduce& r, int rank, Stream stream) {
  const int blocks = blocks_for(r.elements / r.ranks + 1);
  with_float_element(r.kind,
                     [&](auto one) { all_reduce_kernel<decltype(one)><<<blocks, kThreads, 0, stream>>>(r, rank); });
  check(cudaGetLastError());
}

}  // namespace poolcast::cuda
