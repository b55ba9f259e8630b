// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "scenarios/traces/trace.h"
#include "scenarios/traces/trace_log.h"

namespace poolcast {

/// Checks the hash_ids of a row against its prompt: one id per block of `block_tokens`, a last block that is not full
/// counted (Mooncake, Qwen) or not (coding-agent sessions). Ids that fit in neither way are taken off the row and
/// remarked, so that a prefix cache is not misled. With `block_tokens` 0 no ids fit.
class HashBlocks {
 public:
  HashBlocks(std::int64_t block_tokens, TraceLog& log) : block_tokens_(block_tokens), log_(log) {}

  std::int64_t block_tokens() const { return block_tokens_; }
  void check(TraceRow& row, const Place& place) const;
  /// The same for a number of ids: whether they fit.
  bool check(std::int64_t ids, std::int64_t prompt_tokens, const Place& place) const;

  /// Whether `ids` hash ids fit a prompt, rounded either way.
  static bool fits(std::int64_t ids, std::int64_t prompt_tokens, std::int64_t block_tokens) {
    const std::int64_t full = prompt_tokens / block_tokens;
    return ids == full || (ids == full + 1 && prompt_tokens % block_tokens != 0);
  }

 private:
  std::int64_t block_tokens_;
  TraceLog& log_;
};

}  // namespace poolcast
