// SPDX-License-Identifier: Apache-2.0
#include "sim/ideal_cache.h"

#include <algorithm>

namespace poolcast {

std::int64_t IdealCache::request(const Content& content, std::int64_t prompt_tokens, std::int64_t output_tokens) {
  tokens_ = content.prompt;
  std::int64_t known = 0;
  for (const Segment& s : tokens_) known += s.tokens;
  known = std::min(known, prompt_tokens);
  if (known == prompt_tokens && content.output != 0) {
    tokens_.push_back({content.output, content.output_start, output_tokens});
    known += output_tokens;
  }
  return std::min(seen_.insert({tokens_, known}, 0, false), prompt_tokens);
}

}  // namespace poolcast
