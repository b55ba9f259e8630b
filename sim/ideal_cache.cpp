// SPDX-License-Identifier: Apache-2.0
#include "sim/ideal_cache.h"

#include <algorithm>

namespace poolcast {

void IdealCache::request(const Content& content, std::int64_t prompt_tokens, std::int64_t output_tokens,
                         std::int64_t block_tokens) {
  chain_.open(content, prompt_tokens, 0);
  tokens_ += prompt_tokens;
  const std::int64_t known = std::min(chain_.known(), prompt_tokens + output_tokens);
  bool before = true;
  for (std::int64_t block = 0; (block + 1) * block_tokens <= known; ++block) {
    const bool fresh = seen_.insert(chain_.hash(static_cast<std::size_t>(block), content, block_tokens)).second;
    before = before && !fresh && (block + 1) * block_tokens <= prompt_tokens;
    if (before) hits_ += block_tokens;
  }
}

}  // namespace poolcast
