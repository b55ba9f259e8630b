// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/radix_cache.h"

#include <algorithm>
#include <utility>

#include "sim/schedulers/kv_table.h"
#include "sim/take_place.h"

namespace poolcast {

RadixCache::RadixCache(Tokens page_size, SglangArgs::Eviction policy) : page_(page_size), policy_(policy) { clear(); }

void RadixCache::clear() {
  free_.clear();
  for (std::size_t i = nodes_.size(); i > 1; --i) {
    nodes_[i - 1].created = 0;
    free_.push_back(static_cast<Node>(i - 1));
  }
  if (nodes_.empty()) nodes_.emplace_back();
  nodes_[kRoot] = {};
  nodes_[kRoot].locks = 1;
  index_.clear();
  heap_.clear();
  evictable_ = protected_ = 0;
  for (std::size_t node = 0; node < pages_.size(); ++node) tell_removed(static_cast<Node>(node));
}

// ---------------------------------------------------------------- walks

RadixCache::Node RadixCache::child(Node parent, const TokenCursor& at, std::uint64_t hash) const {
  return index_.find(hash, [&](Node node) {
    const TreeNode& n = nodes_[node];
    return n.parent == parent && TokenCursor::common(TokenCursor(n.edge.data(), page_), at) == page_;
  });
}

/// Follows `at` from `node` down as far as the tree goes, cutting the last node where they part. `at` ends behind what
/// was found, which is added to `matched`.
RadixCache::Node RadixCache::descend(Node node, TokenCursor& at, std::uint64_t now, Tokens& matched) {
  while (at.left() > 0) {
    const Node next = child(node, at, at.hash(page_, node));
    if (next == kNone) break;
    touch(next, now);
    const Tokens edge = nodes_[next].tokens;
    const Tokens same = TokenCursor::common(TokenCursor(nodes_[next].edge.data(), edge), at) / page_ * page_;
    matched += same;
    at.advance(same);
    if (same < edge) return split(next, same);
    node = next;
  }
  return node;
}

RadixCache::Match RadixCache::match(const TokenKey& key) {
  const Tokens tokens = key.tokens / page_ * page_;
  if (tokens == 0) return {};
  TokenCursor at(key.segments.data(), tokens);
  at.settle();
  Match result;
  result.node = descend(kRoot, at, ++clock_, result.tokens);
  return result;
}

Tokens RadixCache::insert(const TokenKey& key, std::int32_t priority, bool chunked) {
  const Tokens tokens = key.tokens / page_ * page_;
  if (tokens == 0) return 0;
  TokenCursor at(key.segments.data(), tokens);
  at.settle();
  Tokens present = 0;
  const Node end = descend(kRoot, at, ++clock_, present);
  for (Node n = end; n != kRoot; n = nodes_[n].parent) count_hit(n, priority, chunked);
  if (at.left() > 0) {
    const Node leaf = make_node();
    TreeNode& n = nodes_[leaf];
    n.hash = at.hash(page_, end);
    n.tokens = at.left();
    at.take(n.tokens, n.edge);
    add_child(end, leaf);
    evictable_ += n.tokens;
    count_hit(leaf, priority, chunked);
    offer(leaf);
    if (events_ != nullptr) tell_stored(leaf, {key.segments, tokens}, present);
  }
  return present;
}

// ---------------------------------------------------------------- what is told

/// The pages of `key` behind the first `present` tokens are those of a new leaf.
void RadixCache::tell_stored(Node leaf, const TokenKey& key, Tokens present) {
  Content content;
  Tokens left = key.tokens;
  for (const Segment& s : key.segments) {
    if (left == 0) break;
    content.prompt.push_back({s.id, s.start, std::min(s.tokens, left)});
    left -= content.prompt.back().tokens;
  }
  KvTable names;
  names.open(content, key.tokens, 0);
  names.hash(static_cast<std::size_t>(key.tokens / page_ - 1), content, page_);
  pages_.resize(nodes_.size());
  for (Tokens page = present / page_; page < key.tokens / page_; ++page) {
    pages_[leaf].push_back(names.hash(static_cast<std::size_t>(page), content, page_));
    events_->stored(pages_[leaf].back());
  }
}

void RadixCache::tell_removed(Node node) {
  for (const std::uint64_t page : pages_[node]) events_->removed(page);
  pages_[node].clear();
}

void RadixCache::touch(Node node, std::uint64_t now) {
  TreeNode& n = nodes_[node];
  n.accessed = now;
  if (policy_ == SglangArgs::Eviction::kMru && evictable_leaf(n)) offer(node);
}

void RadixCache::count_hit(Node node, std::int32_t priority, bool chunked) {
  TreeNode& n = nodes_[node];
  n.priority = std::max(n.priority, priority);
  if (!chunked) ++n.hits;
}

// ---------------------------------------------------------------- nodes

RadixCache::Node RadixCache::make_node() {
  const Node node = take_place(nodes_, free_);
  TreeNode& n = nodes_[node];
  n = {};
  n.accessed = n.created = ++clock_;
  return node;
}

void RadixCache::add_child(Node parent, Node node) {
  TreeNode& p = nodes_[parent];
  TreeNode& n = nodes_[node];
  n.parent = parent;
  n.previous = p.last;
  n.next = kNone;
  (p.last == kNone ? p.first : nodes_[p.last].next) = node;
  p.last = node;
  index_.insert(n.hash, node);
}

/// Gives the first `tokens` tokens of `lower` to a new node above it.
RadixCache::Node RadixCache::split(Node lower, Tokens tokens) {
  const Node upper = make_node();
  TreeNode& u = nodes_[upper];
  TreeNode& l = nodes_[lower];
  u.locks = l.locks;
  u.hits = l.hits;
  u.priority = l.priority;
  u.tokens = tokens;
  l.tokens -= tokens;
  TokenCursor at(l.edge.data(), tokens + l.tokens);
  TokenEdge rest;
  at.take(tokens, u.edge);
  at.take(l.tokens, rest);
  l.edge = std::move(rest);

  u.hash = l.hash;
  index_.replace(l.hash, lower, upper);
  u.parent = l.parent;
  u.previous = l.previous;
  u.next = l.next;
  TreeNode& p = nodes_[u.parent];
  (u.previous == kNone ? p.first : nodes_[u.previous].next) = upper;
  (u.next == kNone ? p.last : nodes_[u.next].previous) = upper;
  l.hash = TokenCursor(l.edge.data(), l.tokens).hash(page_, upper);
  add_child(upper, lower);
  if (events_ != nullptr) {
    pages_.resize(nodes_.size());
    const auto border = pages_[lower].begin() + tokens / page_;
    pages_[upper].assign(pages_[lower].begin(), border);
    pages_[lower].erase(pages_[lower].begin(), border);
  }
  return upper;
}

void RadixCache::remove(Node node) {
  TreeNode& n = nodes_[node];
  TreeNode& p = nodes_[n.parent];
  index_.erase(n.hash, node);
  (n.previous == kNone ? p.first : nodes_[n.previous].next) = n.next;
  (n.next == kNone ? p.last : nodes_[n.next].previous) = n.previous;
  n.created = 0;
  free_.push_back(node);
  if (events_ != nullptr) tell_removed(node);
}

void RadixCache::lock(Node node) {
  for (; node != kRoot; node = nodes_[node].parent) {
    TreeNode& n = nodes_[node];
    if (n.locks++ > 0) continue;
    evictable_ -= n.tokens;
    protected_ += n.tokens;
  }
}

void RadixCache::unlock(Node node) {
  for (; node != kRoot; node = nodes_[node].parent) {
    TreeNode& n = nodes_[node];
    if (--n.locks > 0) continue;
    evictable_ += n.tokens;
    protected_ -= n.tokens;
    if (n.first == kNone) offer(node);
  }
}

// ---------------------------------------------------------------- eviction

RadixCache::Value RadixCache::value(const TreeNode& n) const {
  const auto accessed = static_cast<std::int64_t>(n.accessed);
  const auto created = static_cast<std::int64_t>(n.created);
  switch (policy_) {
    case SglangArgs::Eviction::kLru:
      return {0, accessed};
    case SglangArgs::Eviction::kLfu:
      return {n.hits, accessed};
    case SglangArgs::Eviction::kFifo:
      return {0, created};
    case SglangArgs::Eviction::kMru:
      return {0, -accessed};
    case SglangArgs::Eviction::kFilo:
      return {0, -created};
    case SglangArgs::Eviction::kSlru:
      return {n.hits >= 2, accessed};
    case SglangArgs::Eviction::kPriority:
      return {n.priority, accessed};
  }
  return {};
}

/// Enters an evictable leaf into the heap, unless it stands there already.
void RadixCache::offer(Node node) {
  TreeNode& n = nodes_[node];
  if (n.queued && policy_ != SglangArgs::Eviction::kMru) return;
  n.queued = true;
  heap_.push_back({value(n), n.created, node});
  std::push_heap(heap_.begin(), heap_.end(), [](const Entry& a, const Entry& b) { return a.value > b.value; });
  if (heap_.size() > 4 * nodes_.size() + 64) tidy_heap();
}

RadixCache::Node RadixCache::next_victim() {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), [](const Entry& a, const Entry& b) { return a.value > b.value; });
    const Entry entry = heap_.back();
    heap_.pop_back();
    TreeNode& n = nodes_[entry.node];
    if (n.created != entry.created) continue;  // another node by now
    n.queued = false;
    if (!evictable_leaf(n)) continue;
    if (value(n) == entry.value) return entry.node;
    if (value(n) > entry.value) offer(entry.node);  // used meanwhile; an MRU key that fell has a newer entry
  }
  return kNone;
}

/// Leaves out what was superseded (MRU enters a leaf at every access).
void RadixCache::tidy_heap() {
  std::erase_if(heap_, [this](const Entry& e) {
    const TreeNode& n = nodes_[e.node];
    return n.created != e.created || !evictable_leaf(n) || value(n) != e.value;
  });
  std::make_heap(heap_.begin(), heap_.end(), [](const Entry& a, const Entry& b) { return a.value > b.value; });
}

Tokens RadixCache::evict(Tokens wanted) {
  Tokens freed = 0;
  while (freed < wanted) {
    const Node victim = next_victim();
    if (victim == kNone) break;
    const Node parent = nodes_[victim].parent;
    freed += nodes_[victim].tokens;
    evictable_ -= nodes_[victim].tokens;
    remove(victim);
    if (parent != kRoot && evictable_leaf(nodes_[parent])) offer(parent);
  }
  return freed;
}

}  // namespace poolcast
