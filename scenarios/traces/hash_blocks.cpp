// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/hash_blocks.h"

#include <fmt/format.h>

namespace poolcast {

void HashBlocks::check(TraceRow& row, const Place& place) const {
  if (row.hash_ids.empty()) return;
  if (!check(static_cast<std::int64_t>(row.hash_ids.size()), row.prompt_tokens, place)) row.hash_ids.clear();
}

bool HashBlocks::check(std::int64_t ids, std::int64_t prompt_tokens, const Place& place) const {
  if (block_tokens_ > 0 && fits(ids, prompt_tokens, block_tokens_)) {
    if (prompt_tokens % block_tokens_ == 0) return true;
    const bool up = ids > prompt_tokens / block_tokens_;
    log_.remark(up ? Oddity::kBlocksRoundUp : Oddity::kBlocksRoundDown, place,
                [&] { return fmt::format("{} ids for {} tokens in blocks of {}", ids, prompt_tokens, block_tokens_); });
    return true;
  }
  log_.remark(Oddity::kHashCount, place, [&] {
    if (block_tokens_ == 0) return fmt::format("{} ids for {} tokens: the block size is not known", ids, prompt_tokens);
    return fmt::format("{} ids for {} tokens, but these make {} blocks of {}", ids, prompt_tokens,
                       (prompt_tokens + block_tokens_ - 1) / block_tokens_, block_tokens_);
  });
  return false;
}

}  // namespace poolcast
