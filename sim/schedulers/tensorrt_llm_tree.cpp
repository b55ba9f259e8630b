// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/tensorrt_llm_tree.h"

#include <algorithm>

namespace poolcast {

// ---------------------------------------------------------------- tokens

/// The stretch that starts at `position`, which is not before the segment last read.
Segment TrtTokens::piece_at(std::int64_t position) {
  if (position >= prompt_) {
    return content_.output != 0 ? Segment{content_.output, position - prompt_, INT64_MAX}
                                : Segment{own_, position, INT64_MAX};
  }
  const std::vector<Segment>& prompt = content_.prompt;
  while (segment_ < prompt.size() && begins_ + prompt[segment_].tokens <= position)
    begins_ += prompt[segment_++].tokens;
  if (segment_ == prompt.size()) return {own_, position, prompt_ - position};
  const Segment& s = prompt[segment_];
  const std::int64_t into = position - begins_;
  return {s.id, s.start + into, std::min(s.tokens - into, prompt_ - position)};
}

void TrtTokens::read(std::int64_t from, std::int64_t end, std::vector<Segment>& key) {
  key.clear();
  if (from < begins_) {
    segment_ = 0;
    begins_ = 0;
  }
  while (from < end) {
    Segment piece = piece_at(from);
    piece.tokens = std::min(piece.tokens, end - from);
    from += piece.tokens;
    if (!key.empty() && key.back().id == piece.id && key.back().start + key.back().tokens == piece.start) {
      key.back().tokens += piece.tokens;
    } else {
      key.push_back(piece);
    }
  }
}

// ---------------------------------------------------------------- the tree

namespace {

std::int64_t length(const std::vector<Segment>& key) {
  std::int64_t tokens = 0;
  for (const Segment& s : key) tokens += s.tokens;
  return tokens;
}

/// Leading tokens that two keys have in common. Both are joined, so they are cut alike wherever they are equal.
std::int64_t shared(const std::vector<Segment>& a, const std::vector<Segment>& b) {
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].id != b[i].id || a[i].start != b[i].start) break;
    tokens += std::min(a[i].tokens, b[i].tokens);
    if (a[i].tokens != b[i].tokens) break;
  }
  return tokens;
}

}  // namespace

/// Where children of a parent with the same first token are noted: never 0.
std::uint64_t TrtTree::branch(std::uint32_t parent, const Segment& first) {
  std::uint64_t hash = (parent + 1) * 0x9e3779b97f4a7c15ULL;
  for (const std::uint64_t word : {first.id, static_cast<std::uint64_t>(first.start)}) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    hash ^= hash >> 33;
  }
  return hash | 1;
}

void TrtTree::insert(std::uint32_t block, std::uint32_t parent, std::uint64_t hash, const std::vector<Segment>& key,
                     bool branches) {
  if (block >= nodes_.size()) nodes_.resize(block + std::size_t{1});
  Node& node = nodes_[block];
  node.hash = hash;
  node.parent = parent;
  node.first_child = node.previous = node.next = kNone;
  node.listed = true;
  node.branches = branches;
  if (hash != 0) index_.insert(hash, block);
  if (parent != kRoot) {
    node.next = nodes_[parent].first_child;
    if (node.next != kNone) nodes_[node.next].previous = block;
    nodes_[parent].first_child = block;
  }
  if (!branches) return;
  node.key.assign(key.begin(), key.end());
  link_alike(block);
}

void TrtTree::link_alike(std::uint32_t block) {
  Node& node = nodes_[block];
  const std::uint64_t at = branch(node.parent, node.key.front());
  std::uint32_t* const newest = branches_.slot(at);
  node.alike_next = kNone;
  node.alike_previous = newest == nullptr ? kNone : *newest;
  if (newest == nullptr) return branches_.insert(at, block);
  nodes_[*newest].alike_next = block;
  *newest = block;
}

void TrtTree::unlink_alike(std::uint32_t block) {
  const Node& node = nodes_[block];
  if (node.alike_previous != kNone) nodes_[node.alike_previous].alike_next = node.alike_next;
  if (node.alike_next != kNone) {
    nodes_[node.alike_next].alike_previous = node.alike_previous;
    return;
  }
  const std::uint64_t at = branch(node.parent, node.key.front());
  if (node.alike_previous != kNone) {
    *branches_.slot(at) = node.alike_previous;
  } else {
    branches_.erase(at);
  }
}

std::int64_t TrtTree::remove(std::uint32_t block) {
  Node& top = nodes_[block];
  if (top.previous != kNone) nodes_[top.previous].next = top.next;
  if (top.next != kNone) nodes_[top.next].previous = top.previous;
  if (top.parent != kRoot && nodes_[top.parent].first_child == block) nodes_[top.parent].first_child = top.next;
  std::int64_t removed = 0;
  doomed_.assign(1, block);
  while (!doomed_.empty()) {
    const std::uint32_t next = doomed_.back();
    doomed_.pop_back();
    for (std::uint32_t child = nodes_[next].first_child; child != kNone; child = nodes_[child].next) {
      doomed_.push_back(child);
    }
    unlist(next);
    ++removed;
  }
  return removed;
}

void TrtTree::unlist(std::uint32_t block) {
  Node& node = nodes_[block];
  if (node.hash != 0) index_.erase(node.hash);
  if (node.branches) unlink_alike(block);
  node.listed = false;
  node.first_child = kNone;
}

TrtTree::Shared TrtTree::longest_shared(std::uint32_t parent, const std::vector<Segment>& key) const {
  Shared best;
  std::uint32_t at = branches_.find(branch(parent, key.front()));
  for (; at != kNone; at = nodes_[at].alike_previous) {
    const std::int64_t tokens = shared(nodes_[at].key, key);
    if (tokens >= best.tokens && tokens > 0) best = {at, tokens, false};
  }
  if (best.block != kNone) best.whole = best.tokens == length(key) && best.tokens == length(nodes_[best.block].key);
  return best;
}

}  // namespace poolcast
