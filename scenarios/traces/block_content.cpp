// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/block_content.h"

#include <algorithm>

namespace poolcast {

Content block_content(const std::vector<std::uint64_t>& hash_ids, std::int64_t prompt_tokens, std::int64_t block_tokens,
                      std::uint64_t space) {
  Content content;
  content.prompt.reserve(hash_ids.size());
  std::int64_t left = prompt_tokens;
  for (const std::uint64_t id : hash_ids) {
    content.prompt.push_back({content_id(space, id), 0, std::min(left, block_tokens)});
    left -= content.prompt.back().tokens;
  }
  return content;
}

}  // namespace poolcast
