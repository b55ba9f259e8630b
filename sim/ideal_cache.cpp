// SPDX-License-Identifier: Apache-2.0
#include "sim/ideal_cache.h"

#include <algorithm>

namespace poolcast {
namespace {

constexpr std::int64_t kAhead = 8;  // probes whose memory is asked for in advance

}  // namespace

void IdealCache::request(const Content& content, std::int64_t prompt_tokens, std::int64_t output_tokens,
                         std::int64_t block_tokens) {
  chain_.open(content, prompt_tokens, 0);
  tokens_ += prompt_tokens;
  const std::int64_t known = std::min(chain_.known(), prompt_tokens + output_tokens);
  const std::int64_t blocks = known / block_tokens;
  if (blocks > 0) hash(content, blocks - 1, block_tokens);  // hashes come cheapest many at a time
  std::int64_t seen = 0;
  for (bool known_so_far = true; known_so_far && seen < blocks; seen += known_so_far) {
    if (seen % kAhead == 0) {
      for (std::int64_t next = seen; next < std::min(seen + kAhead, blocks); ++next) {
        seen_.prefetch(hash(content, next, block_tokens));
      }
    }
    known_so_far = seen_.find(hash(content, seen, block_tokens)) != PrefixIndex::kNone;
  }
  hits_ += std::min(seen, prompt_tokens / block_tokens) * block_tokens;
  // A block is noted with all blocks before it, so nothing behind the first new one is known.
  for (std::int64_t block = seen; block < blocks; ++block) seen_.insert(hash(content, block, block_tokens), 0);
}

}  // namespace poolcast
