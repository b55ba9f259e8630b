// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/prefix_index.h"

#include <algorithm>

#include "sim/take_place.h"

namespace poolcast::routing {
namespace {

/// For HashIndex, which goes by the low bits: the lowest of `content_id` is always 1.
std::uint64_t key_of(std::uint64_t hash, std::uint32_t endpoint) { return content_id(hash, endpoint) >> 1; }

}  // namespace

PrefixIndex::PrefixIndex(const Options& options, std::size_t endpoints) : options_(options), lists_(endpoints) {}

void PrefixIndex::look_up(const Content& content, std::int64_t prompt_tokens, std::vector<PrefixMatch>& matches) {
  const std::int64_t tokens = std::min(prompt_tokens, options_.most_tokens);
  const std::int64_t count = std::min(tokens / options_.block_size, options_.most_blocks);
  std::fill(matches.begin(), matches.end(), PrefixMatch{0, count, options_.block_size});
  present_.clear();
  found_.clear();
  if (content.prompt.empty() || count == 0) return;
  // Tokens that are like no others get a name of their own, so that they fill the lists as they do in llm-d.
  table_.open(content, prompt_tokens, content_id(content_space("prefix-index"), prompts_++));
  table_.hash(static_cast<std::size_t>(count - 1), content, options_.block_size);
  bool known = true;
  for (std::int64_t i = 0; i < count; ++i) {
    present_.push_back(table_.hash(static_cast<std::size_t>(i), content, options_.block_size));
    if (!known) continue;
    const auto endpoints = holders_.of(present_.back());
    known = !endpoints.empty();
    for (const std::uint32_t endpoint : endpoints) {
      if (matches[endpoint].match_blocks++ == 0) found_.push_back(endpoint);
    }
  }
}

void PrefixIndex::add(std::uint32_t endpoint, std::span<const std::uint64_t> blocks) {
  for (const std::uint64_t hash : blocks) add_block(hash, endpoint);
}

std::uint32_t PrefixIndex::find_sent(std::uint64_t hash, std::uint32_t endpoint) const {
  return sent_by_key_.find(key_of(hash, endpoint),
                           [&](std::uint32_t at) { return sent_[at].hash == hash && sent_[at].endpoint == endpoint; });
}

void PrefixIndex::add_block(std::uint64_t hash, std::uint32_t endpoint) {
  List& list = lists_[endpoint];
  if (const std::uint32_t at = find_sent(hash, endpoint); at != kNone) {
    unlink(list, at);
    return push_front(list, at);
  }
  if (list.size == options_.capacity) forget_oldest(list);
  const std::uint32_t at = take_place(sent_, free_sent_);
  sent_[at].hash = hash;
  sent_[at].endpoint = endpoint;
  push_front(list, at);
  sent_by_key_.insert(key_of(hash, endpoint), at);
  holders_.add(hash, endpoint);
}

void PrefixIndex::forget_oldest(List& list) {
  const std::uint32_t at = list.oldest;
  const Sent gone = sent_[at];
  unlink(list, at);
  sent_by_key_.erase(key_of(gone.hash, gone.endpoint), at);
  free_sent_.push_back(at);
  holders_.remove(gone.hash, gone.endpoint);
}

void PrefixIndex::unlink(List& list, std::uint32_t at) {
  const Sent& s = sent_[at];
  (s.newer == kNone ? list.newest : sent_[s.newer].older) = s.older;
  (s.older == kNone ? list.oldest : sent_[s.older].newer) = s.newer;
  --list.size;
}

void PrefixIndex::push_front(List& list, std::uint32_t at) {
  sent_[at].newer = kNone;
  sent_[at].older = list.newest;
  (list.newest == kNone ? list.oldest : sent_[list.newest].newer) = at;
  list.newest = at;
  ++list.size;
}

}  // namespace poolcast::routing
