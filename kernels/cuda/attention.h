// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/paged.h"
#include "kernels/cuda/tensor_map.h"

/// What the attention kernels are given; all pointers are device addresses. Elements are bf16 or fp32 (`kind`), sums
/// are fp32.
namespace poolcast::cuda {

/// A paged KV cache; the head dimension is contiguous. Slots behind the last token must hold finite numbers: they are
/// multiplied with weights of zero.
struct PagedCache {
  ElementKind kind = ElementKind::kBf16;
  const void* keys = nullptr;
  const void* values = nullptr;
  PagedStrides strides;  ///< in elements, the same for K and V
  int blocks = 0;        ///< in the cache
  int block_tokens = 0;
  int kv_heads = 0;
  int head_dim = 0;
};

/// Decode: one query token of each request over `context` tokens. q and out: [requests, heads, head_dim].
struct DecodeAttention {
  const void* q = nullptr;
  void* out = nullptr;
  PagedCache cache;
  const int* block_tables = nullptr;  ///< [requests, blocks_per_request]
  int blocks_per_request = 0;
  const int* contexts = nullptr;  ///< tokens of each request
  int requests = 0;
  int heads = 0;
  int longest_context = 0;
};

/// Prefill: a chunk of `query` new tokens after `context` old ones of one request; the new ones' K and V are already in
/// the cache. q and out: [query, heads, head_dim].
struct PrefillAttention {
  const void* q = nullptr;
  void* out = nullptr;
  PagedCache cache;
  const int* block_table = nullptr;
  int query = 0;
  int context = 0;
  int heads = 0;
};

}  // namespace poolcast::cuda
