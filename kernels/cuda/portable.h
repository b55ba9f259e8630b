// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention.h"

/// Plain CUDA C++: threads, shared memory and shuffles, no matrix instructions. What a generic kernel gets on any
/// NVIDIA device. All pointers are device addresses; every launch works in the order of its stream and returns at once.
/// bf16 and fp32 unless said otherwise; sums are in fp32.
namespace poolcast::cuda {

/// C[rows, n] = A[rows, k] B[g][k, n], rows offsets[g] to offsets[g + 1] - 1 times B of group g. Also int8 (C int32).
struct PortableProduct {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const int* offsets = nullptr;  ///< groups + 1 numbers
  int groups = 1;
  int longest_group = 0;  ///< rows
  int n = 0;
  int k = 0;
  ElementKind kind = ElementKind::kBf16;
};
void launch_portable(const PortableProduct& product, Stream stream);

/// to[i] = from[row_of[i]], rows of row_bytes: brings the tokens of a mixture-of-experts layer into the experts' order.
struct RowGather {
  const void* from = nullptr;
  void* to = nullptr;
  const int* row_of = nullptr;
  int rows = 0;
  long row_bytes = 0;
};
void launch_gather(const RowGather& gather, Stream stream);

/// to[g][column][row] = from[g][row][column], elements of 1, 2 or 4 bytes.
void launch_transpose(const void* from, void* to, int rows, int columns, int groups, int element_bytes, Stream stream);

constexpr int kPortableMaxHeadDim = 256;
void launch_portable(const DecodeAttention& attention, Stream stream);
void launch_portable(const PrefillAttention& attention, Stream stream);

/// Row-wise operations; `in` and `out` are [rows, columns].
struct Rows {
  const void* in = nullptr;
  void* out = nullptr;
  int rows = 0;
  int columns = 0;
  ElementKind kind = ElementKind::kBf16;
};
void launch_softmax(const Rows& rows, Stream stream);
/// out: one fp32 loss a row.
void launch_cross_entropy(const Rows& rows, const int* labels, Stream stream);
void launch_rms_norm(const Rows& rows, const void* weight, Stream stream);
/// in: [rows, 2 * columns], a row's gates, then its factors.
void launch_silu_gate(const Rows& rows, Stream stream);
/// addend: as `in`.
void launch_residual_add(const Rows& rows, const void* addend, Stream stream);

/// x and out: [tokens, heads, head_dim]; turns are (cos, sin) pairs, [tokens, head_dim / 2], in fp32.
struct Rotary {
  const void* in = nullptr;
  void* out = nullptr;
  const float* turns = nullptr;
  int tokens = 0;
  int heads = 0;
  int head_dim = 0;
  ElementKind kind = ElementKind::kBf16;
};
void launch_rotary(const Rotary& rotary, Stream stream);

/// K and V of new tokens, [tokens, kv_heads, head_dim] each, to their slots of caches [blocks, kv_heads, block,
/// head_dim]: a slot is the block's number * block + the place in it.
struct TokenStore {
  const void* k = nullptr;
  const void* v = nullptr;
  void* keys = nullptr;
  void* values = nullptr;
  const long* slots = nullptr;
  int tokens = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int block = 0;
  ElementKind kind = ElementKind::kBf16;
};
void launch_store(const TokenStore& store, Stream stream);

/// Copies `count` blocks of `block_bytes` within K and within V: block from[i] to block to[i].
struct BlockCopy {
  void* keys = nullptr;
  void* values = nullptr;
  const int* from = nullptr;
  const int* to = nullptr;
  int count = 0;
  long block_bytes = 0;
};
void launch_block_copy(const BlockCopy& copy, Stream stream);

/// Sum over ranks, one device each, all with peer access to each other. The device of rank r reads its share of every
/// rank's vector and writes the sums to every rank's output: both shots of a two-shot all-reduce in one kernel.
constexpr int kMaxRanks = 16;
struct AllReduce {
  const void* in[kMaxRanks] = {};
  void* out[kMaxRanks] = {};
  int ranks = 0;
  long elements = 0;
  ElementKind kind = ElementKind::kBf16;
};
void launch_all_reduce(const AllReduce& reduce, int rank, Stream stream);

}  // namespace poolcast::cuda
