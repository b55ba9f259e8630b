// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Operations over rows and moves of KV on AMD devices, without matrix instructions: lanes of waves of 64, shuffles
/// among them, LDS between waves. All pointers are device addresses, on the null stream; every launch returns at once.
/// Sums are in fp32.
namespace poolcast::hip {

enum class Format { kBf16, kFp32 };

/// `in` and `out` are [rows, columns]; fewer than 2^24 rows.
struct Rows {
  const void* in = nullptr;
  void* out = nullptr;
  int rows = 0;
  int columns = 0;
  Format format = Format::kBf16;
};
void launch_softmax(const Rows& rows);
/// out: one fp32 loss a row.
void launch_cross_entropy(const Rows& rows, const int* labels);
void launch_rms_norm(const Rows& rows, const void* weight);
/// in: [rows, 2 * columns], a row's gates, then its factors.
void launch_silu_gate(const Rows& rows);
/// addend: as `in`.
void launch_residual_add(const Rows& rows, const void* addend);

/// in and out: [tokens, heads, head_dim]; turns are (cos, sin) pairs, [tokens, head_dim / 2], in fp32. Fewer than 2^24
/// tokens.
struct Rotary {
  const void* in = nullptr;
  void* out = nullptr;
  const float* turns = nullptr;
  int tokens = 0;
  int heads = 0;
  int head_dim = 0;
  Format format = Format::kBf16;
};
void launch_rotary(const Rotary& rotary);

/// K and V of new tokens, [tokens, kv_heads, head_bytes] each, to their slots of caches [blocks, kv_heads, block,
/// head_bytes]: a slot is the block's number * block + the place in it. head_bytes is even; fewer than 2^24 tokens.
struct TokenStore {
  const void* k = nullptr;
  const void* v = nullptr;
  void* keys = nullptr;
  void* values = nullptr;
  const std::int64_t* slots = nullptr;
  int tokens = 0;
  int kv_heads = 0;
  int head_bytes = 0;
  int block = 0;
};
void launch_store(const TokenStore& store);

/// Copies `count` blocks of `block_bytes` within K and within V: block from[i] to block to[i]. Fewer than 2^24.
struct BlockCopy {
  void* keys = nullptr;
  void* values = nullptr;
  const int* from = nullptr;
  const int* to = nullptr;
  int count = 0;
  std::int64_t block_bytes = 0;
};
void launch_block_copy(const BlockCopy& copy);

}  // namespace poolcast::hip
