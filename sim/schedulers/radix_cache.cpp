// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/radix_cache.h"

#include <algorithm>

namespace poolcast {
namespace {

/// splitmix64's last step (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

/// A place in a list of segments, with the tokens left until its end.
class RadixCache::Cursor {
 public:
  Cursor(const std::vector<Segment>& segments, Tokens tokens) : at_(segments.data()), left_(tokens) {}

  Tokens left() const { return left_; }
  /// Tokens of the present segment from here on.
  Tokens run() const { return std::min(at_->tokens - offset_, left_); }
  std::uint64_t id() const { return at_->id; }
  std::int64_t position() const { return at_->start + offset_; }

  void advance(Tokens n) {
    left_ -= n;
    offset_ += n;
    while (left_ > 0 && offset_ >= at_->tokens) {
      offset_ -= at_->tokens;
      ++at_;
    }
  }
  /// Segments without tokens are passed over.
  void settle() { advance(0); }

  /// Tokens that are the same from here on in both.
  static Tokens common(Cursor a, Cursor b) {
    Tokens same = 0;
    while (a.left_ > 0 && b.left_ > 0 && a.id() == b.id() && a.position() == b.position()) {
      const Tokens n = std::min(a.run(), b.run());
      same += n;
      a.advance(n);
      b.advance(n);
    }
    return same;
  }

  /// A hash of the next `n` tokens, however they are cut into segments.
  std::uint64_t hash(Tokens n, std::uint64_t seed) const {
    Cursor at = *this;
    std::uint64_t h = seed;
    while (n > 0) {
      const std::uint64_t id = at.id();
      const std::int64_t begin = at.position();
      Tokens length = 0;
      while (n > 0 && at.id() == id && at.position() == begin + length) {
        const Tokens run = std::min(at.run(), n);
        length += run;
        n -= run;
        at.advance(run);
      }
      h = mix(h ^ mix(id)) ^ mix(static_cast<std::uint64_t>(begin) + 0x9e3779b97f4a7c15ull);
      h = mix(h + static_cast<std::uint64_t>(length));
    }
    return h;
  }

  /// Appends the next `n` tokens to `edge` and goes past them.
  void take(Tokens n, std::vector<Segment>& edge) {
    while (n > 0) {
      const Tokens run_tokens = std::min(run(), n);
      if (!edge.empty() && edge.back().id == id() && edge.back().start + edge.back().tokens == position()) {
        edge.back().tokens += run_tokens;
      } else {
        edge.push_back({id(), position(), run_tokens});
      }
      n -= run_tokens;
      advance(run_tokens);
    }
  }

 private:
  const Segment* at_;
  Tokens offset_ = 0;
  Tokens left_;
};

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
}

// ---------------------------------------------------------------- walks

RadixCache::Node RadixCache::child(Node parent, const Cursor& at, std::uint64_t hash) const {
  return index_.find(hash, [&](Node node) {
    const TreeNode& n = nodes_[node];
    return n.parent == parent && Cursor::common(Cursor(n.edge, page_), at) == page_;
  });
}

/// Follows `at` from `node` down as far as the tree goes, cutting the last node where they part. `at` ends behind what
/// was found, which is added to `matched`.
RadixCache::Node RadixCache::descend(Node node, Cursor& at, std::uint64_t now, Tokens& matched) {
  while (at.left() > 0) {
    const Node next = child(node, at, at.hash(page_, node));
    if (next == kNone) break;
    touch(next, now);
    const Tokens edge = nodes_[next].tokens;
    const Tokens same = Cursor::common(Cursor(nodes_[next].edge, edge), at) / page_ * page_;
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
  Cursor at(key.segments, tokens);
  at.settle();
  Match result;
  result.node = descend(kRoot, at, ++clock_, result.tokens);
  return result;
}

Tokens RadixCache::insert(const TokenKey& key, std::int32_t priority, bool chunked) {
  const Tokens tokens = key.tokens / page_ * page_;
  if (tokens == 0) return 0;
  Cursor at(key.segments, tokens);
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
  }
  return present;
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
  Node node;
  if (free_.empty()) {
    node = static_cast<Node>(nodes_.size());
    nodes_.emplace_back();
  } else {
    node = free_.back();
    free_.pop_back();
  }
  TreeNode& n = nodes_[node];
  std::vector<Segment> edge = std::move(n.edge);  // keeps its memory
  edge.clear();
  n = {};
  n.edge = std::move(edge);
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
  Cursor at(l.edge, tokens + l.tokens);
  std::vector<Segment> rest;
  at.take(tokens, u.edge);
  at.take(l.tokens, rest);
  l.edge.swap(rest);

  u.hash = l.hash;
  index_.replace(l.hash, lower, upper);
  u.parent = l.parent;
  u.previous = l.previous;
  u.next = l.next;
  TreeNode& p = nodes_[u.parent];
  (u.previous == kNone ? p.first : nodes_[u.previous].next) = upper;
  (u.next == kNone ? p.last : nodes_[u.next].previous) = upper;
  l.hash = Cursor(l.edge, l.tokens).hash(page_, upper);
  add_child(upper, lower);
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
