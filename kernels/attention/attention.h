// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernel.h"
#include "kernels/threads.h"

namespace poolcast::kernels {

/// The paged K and V of one layer: blocks of `block` tokens; in a block KV head after KV head, in a head token after
/// token, head_dim elements each.
struct KvCache {
  DType dtype = DType::kBf16;
  const void* k = nullptr;  // [blocks][kv_heads][block][head_dim]
  const void* v = nullptr;
  std::int64_t kv_heads = 0, block = 0, head_dim = 0;
};

/// The step's tokens of one request: the last `query` of its `total` tokens, whose K and V are in the cache already.
/// Query token i sees the first total - query + i + 1 tokens. Decoding has query = 1.
struct AttentionSequence {
  const void* q = nullptr;               // [query][heads][head_dim]
  void* out = nullptr;                   // the same
  const std::int32_t* blocks = nullptr;  // of the request, in order: ceil(total / block)
  std::int64_t query = 0, total = 0;
};

/// out = softmax(q k / sqrt(head_dim)) v for each sequence. Query heads h and KV heads: h / (heads / kv_heads).
using Attend = void (*)(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                        Team& team);

// Each in the source of its name.
void reference_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&);
void portable_naive_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&);
void portable_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&);
void avx512_decode_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&);
void avx512_prefill_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&);
void amx_decode_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&);
void amx_prefill_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&);

struct TileDecodeTask;
struct TilePrefillTask;
/// The same over any tile functions: amx_decode and amx_prefill, or some over emulated tiles in the tests.
void tiled_prefill_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&,
                             void (*prefill)(const TilePrefillTask&));
void tiled_decode_attention(const KvCache&, std::int64_t heads, std::span<const AttentionSequence>, Team&,
                            void (*decode)(const TileDecodeTask&));

/// The CPU's implementations of Operation::kPrefillAttention and kDecodeAttention.
std::span<const Kernel> attention_kernels();

}  // namespace poolcast::kernels
