// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/tensorrt_llm_tree.h"

#include <algorithm>
#include <iterator>

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

/// Order of two keys by their tokens; a beginning comes before what it begins.
int compare(const std::vector<Segment>& a, const std::vector<Segment>& b) {
  const auto order = [](std::uint64_t id, std::int64_t at, std::uint64_t other_id, std::int64_t other_at) {
    if (id != other_id) return id < other_id ? -1 : 1;
    return at == other_at ? 0 : at < other_at ? -1 : 1;
  };
  for (std::size_t i = 0;; ++i) {
    if (i == a.size() || i == b.size()) return (i < a.size()) - (i < b.size());
    if (const int first = order(a[i].id, a[i].start, b[i].id, b[i].start); first != 0) return first;
    if (a[i].tokens == b[i].tokens) continue;
    // One piece ends before the other: its next token against the one that goes on there.
    const bool a_ends = a[i].tokens < b[i].tokens;
    const std::vector<Segment>& ends = a_ends ? a : b;
    const Segment& goes_on = a_ends ? b[i] : a[i];
    if (i + 1 == ends.size()) return a_ends ? -1 : 1;
    const int next = order(ends[i + 1].id, ends[i + 1].start, goes_on.id, goes_on.start + ends[i].tokens);
    return a_ends ? next : -next;
  }
}

}  // namespace

bool TrtTree::InOrder::before(const Probe& a, const Probe& b) {
  return a.parent != b.parent ? a.parent < b.parent : compare(*a.key, *b.key) < 0;
}

void TrtTree::insert(std::uint32_t block, std::uint32_t parent, std::uint64_t hash, const std::vector<Segment>& key) {
  if (block >= nodes_.size()) nodes_.resize(block + std::size_t{1});
  Node& node = nodes_[block];
  node.key.assign(key.begin(), key.end());
  node.hash = hash;
  node.parent = parent;
  node.first_child = kNone;
  node.children = 0;
  node.many = false;
  node.listed = true;
  if (hash != 0) {
    index_.insert(hash, block);
    if (events_ != nullptr) events_->stored(hash);
  }
  join_parent(block);
}

void TrtTree::join_parent(std::uint32_t block) {
  Node& node = nodes_[block];
  Node& parent = above(node);
  node.previous = kNone;
  node.next = parent.first_child;
  if (node.next != kNone) nodes_[node.next].previous = block;
  parent.first_child = block;
  ++parent.children;
  if (node.key.empty()) return;
  if (parent.many) {
    ordered_.insert(block);
  } else if (parent.children > kFew) {
    parent.many = true;
    for (std::uint32_t child = parent.first_child; child != kNone; child = nodes_[child].next) ordered_.insert(child);
  }
}

void TrtTree::leave_parent(std::uint32_t block) {
  const Node& node = nodes_[block];
  Node& parent = above(node);
  if (parent.many) ordered_.erase(block);
  (node.previous == kNone ? parent.first_child : nodes_[node.previous].next) = node.next;
  if (node.next != kNone) nodes_[node.next].previous = node.previous;
  --parent.children;
}

std::int64_t TrtTree::remove(std::uint32_t block) {
  std::int64_t removed = 0;
  doomed_.assign(1, block);
  for (std::size_t i = 0; i < doomed_.size(); ++i) {  // parents first
    for (std::uint32_t child = nodes_[doomed_[i]].first_child; child != kNone; child = nodes_[child].next) {
      doomed_.push_back(child);
    }
  }
  for (; !doomed_.empty(); doomed_.pop_back(), ++removed) {
    Node& node = nodes_[doomed_.back()];
    leave_parent(doomed_.back());
    if (node.hash != 0) {
      index_.erase(node.hash, doomed_.back());
      if (events_ != nullptr) events_->removed(node.hash);
    }
    node.listed = false;
  }
  return removed;
}

TrtTree::Shared TrtTree::longest_shared(std::uint32_t parent, const std::vector<Segment>& key) const {
  Shared best;
  const auto consider = [&](std::uint32_t block) {
    const std::int64_t tokens = shared(nodes_[block].key, key);
    if (tokens > best.tokens) best = {block, tokens, false};
  };
  const Node& above = parent == kRoot ? root_ : nodes_[parent];
  if (!above.many) {
    for (std::uint32_t child = above.first_child; child != kNone; child = nodes_[child].next) consider(child);
  } else {
    const auto place = ordered_.lower_bound(Probe{parent, &key});
    if (place != ordered_.end() && nodes_[*place].parent == parent) consider(*place);
    if (place != ordered_.begin() && nodes_[*std::prev(place)].parent == parent) consider(*std::prev(place));
  }
  if (best.block != kNone) best.whole = best.tokens == length(key) && best.tokens == length(nodes_[best.block].key);
  return best;
}

}  // namespace poolcast
