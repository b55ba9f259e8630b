// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/exact_index.h"

#include <algorithm>

namespace poolcast::routing {

ExactIndex::ExactIndex(std::int64_t block_size, std::size_t endpoints, std::uint32_t caches_by_endpoint)
    : block_size_(block_size), caches_by_endpoint_(caches_by_endpoint), length_(endpoints * caches_by_endpoint, 0) {}

void ExactIndex::look_up(const Content& content, std::int64_t prompt_tokens, std::vector<PrefixMatch>& matches) {
  const std::int64_t count = prompt_tokens / block_size_;
  std::fill(matches.begin(), matches.end(), PrefixMatch{0, count, block_size_});
  present_.clear();
  found_.clear();
  if (content.prompt.empty() || count == 0) return;
  // Tokens that are like no others lie in no cache that anybody told of.
  table_.open(content, prompt_tokens, content_id(content_space("exact-index"), prompts_++));
  table_.hash(static_cast<std::size_t>(count - 1), content, block_size_);
  for (std::int64_t i = 0; i < count; ++i) {
    present_.push_back(table_.hash(static_cast<std::size_t>(i), content, block_size_));
  }
  for (const std::uint32_t cache : chains_) length_[cache] = 0;
  chains_.clear();
  bool goes_on = true;
  for (std::int64_t i = 0; i < count && goes_on; ++i) {
    goes_on = false;
    for (const std::uint32_t cache : holders_.of(present_[static_cast<std::size_t>(i)])) {
      if (length_[cache] != i) continue;
      if (++length_[cache] == 1) chains_.push_back(cache);
      goes_on = true;
    }
  }
  for (const std::uint32_t cache : chains_) {
    const std::uint32_t endpoint = cache / caches_by_endpoint_;
    std::int64_t& match = matches[endpoint].match_blocks;
    if (match == 0) found_.push_back(endpoint);
    match = std::max(match, length_[cache]);
  }
}

}  // namespace poolcast::routing
