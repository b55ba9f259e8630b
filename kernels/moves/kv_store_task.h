// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// No library header here: a source compiled for AVX-512 includes it.
namespace poolcast::kernels {

/// K and V of a step's new tokens go to their slots of one layer's paged cache, head by head.
struct KvStoreTask {
  const char *k, *v;  // [tokens][kv_heads][head_bytes]
  std::int64_t k_stride,
      v_stride;               // bytes from a token to the next; more than kv_heads * head_bytes in rows of Q, K, V
  char *k_cache, *v_cache;    // [blocks][kv_heads][block][head_bytes]
  const std::int64_t* slots;  // of each token, no two alike: its block * `block` + its place in the block
  std::int64_t tokens, kv_heads, block, head_bytes;
};

/// Where a head of a token lies in the caches, in bytes.
[[gnu::always_inline]] inline std::int64_t place_of(const KvStoreTask& task, std::int64_t token, std::int64_t head) {
  const std::int64_t block = task.slots[token] / task.block, place = task.slots[token] % task.block;
  return ((block * task.kv_heads + head) * task.block + place) * task.head_bytes;
}

/// Tokens from `first` to `end`, in the source of its name.
void avx512_kv_store(const KvStoreTask& task, std::int64_t first, std::int64_t end);

}  // namespace poolcast::kernels
