// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/hash_blocks.h"

#include <fmt/format.h>

namespace poolcast {

void HashBlocks::check(TraceRow& row, const Place& place) const {
  if (row.hash_ids.empty()) return;
  const auto ids = static_cast<std::int64_t>(row.hash_ids.size());
  if (block_tokens_ > 0 && fits(ids, row.prompt_tokens, block_tokens_)) {
    if (row.prompt_tokens % block_tokens_ == 0) return;
    const bool up = ids > row.prompt_tokens / block_tokens_;
    log_.remark(up ? Oddity::kBlocksRoundUp : Oddity::kBlocksRoundDown, place, [&] {
      return fmt::format("{} ids for {} tokens in blocks of {}", ids, row.prompt_tokens, block_tokens_);
    });
    return;
  }
  log_.remark(Oddity::kHashCount, place, [&] {
    if (block_tokens_ == 0)
      return fmt::format("{} ids for {} tokens: the block size is not known", ids, row.prompt_tokens);
    return fmt::format("{} ids for {} tokens, but these make {} blocks of {}", ids, row.prompt_tokens,
                       (row.prompt_tokens + block_tokens_ - 1) / block_tokens_, block_tokens_);
  });
  row.hash_ids.clear();
}

}  // namespace poolcast
