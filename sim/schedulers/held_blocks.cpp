// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/held_blocks.h"

#include <algorithm>

namespace poolcast {

void HeldBlocks::start(const Content& content, std::int64_t prompt_tokens, std::uint64_t own) {
  tokens.clear();
  parts.clear();
  cached = open = 0;
  known = 0;
  for (const Segment& s : content.prompt) {
    const Tokens count = std::min(s.tokens, prompt_tokens - known);
    if (count > 0) tokens.push_back({s.id, s.start, count});
    known += count;
  }
  if (known < prompt_tokens) tokens.push_back({own, known, prompt_tokens - known});
  if (content.output != 0) {
    tokens.push_back({content.output, content.output_start, kEndless});
    if (known == prompt_tokens) known = INT64_MAX;
  } else {
    tokens.push_back({own, prompt_tokens, kEndless});
  }
  at = from_start(kEndless);
}

}  // namespace poolcast
