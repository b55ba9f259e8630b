// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace poolcast::kernels {

/// The rows that share a KV head in prefill: query token after query token, in each the query heads of the group.
class PrefillRows {
 public:
  PrefillRows(const KvCache& cache, std::int64_t heads, const AttentionSequence& sequence, std::int64_t kv_head)
      : cache_(cache), sequence_(sequence), heads_(heads), group_(heads / cache.kv_heads), kv_head_(kv_head) {}

  std::int64_t count() const { return sequence_.query * group_; }
  /// Tokens that a row sees; never falls from row to row.
  std::int64_t seen(std::int64_t row) const { return sequence_.total - sequence_.query + row / group_ + 1; }
  const std::uint16_t* q(std::int64_t row) const { return static_cast<const std::uint16_t*>(sequence_.q) + at(row); }
  std::uint16_t* out(std::int64_t row) const { return static_cast<std::uint16_t*>(sequence_.out) + at(row); }
  /// A token's row of K or V.
  const std::uint16_t* in_cache(const void* k_or_v, std::int64_t token) const {
    const std::int64_t block = sequence_.blocks[token / cache_.block];
    return static_cast<const std::uint16_t*>(k_or_v) +
           ((block * cache_.kv_heads + kv_head_) * cache_.block + token % cache_.block) * cache_.head_dim;
  }

 private:
  std::int64_t at(std::int64_t row) const {
    return (row / group_ * heads_ + kv_head_ * group_ + row % group_) * cache_.head_dim;
  }

  const KvCache& cache_;
  const AttentionSequence& sequence_;
  std::int64_t heads_, group_, kv_head_;
};

}  // namespace poolcast::kernels
