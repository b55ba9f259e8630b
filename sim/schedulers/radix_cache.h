// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/units.h"
#include "sim/huge_pages.h"
#include "sim/kv_events.h"
#include "sim/schedulers/hash_index.h"
#include "sim/schedulers/sglang_args.h"
#include "sim/schedulers/token_cursor.h"

namespace poolcast {

/// The first `tokens` tokens of a list of segments.
struct TokenKey {
  const std::vector<Segment>& segments;
  Tokens tokens;
};

/// SGLang's radix tree of cached tokens (python/sglang/srt/mem_cache/radix_cache.py and evict_policy.py at 8905cbd).
///
/// A node's edge is a run of tokens, a whole number of pages long; children are told apart by their first page. Token
/// slots are counted, not named. An access (`match`, `insert`) gives every node on its way the same new time; a node
/// that is cut in two gets a new upper part, younger than the lower one, with the same locks and hits.
///
/// Evictable leaves stand in a heap whose entries may be out of date: a key only ever grows while its entry waits (an
/// MRU key falls, so it is entered anew), and an entry is checked when it comes out.
class RadixCache {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = UINT32_MAX;

  struct Match {
    Node node = kRoot;  ///< where the match ends
    Tokens tokens = 0;  ///< matched, a multiple of the page size
  };

  RadixCache(Tokens page_size, SglangArgs::Eviction policy);

  /// From now on pages that enter the tree and leave it are told to `events`, which outlives this.
  void tell(KvEvents* events) { events_ = events; }

  /// The longest cached prefix of the whole pages of `key`. Counts as an access and may cut a node in two.
  Match match(const TokenKey& key);
  /// Adds the whole pages of `key`; returns how many of its tokens were there already. Every node on the way counts a
  /// hit unless `chunked`, and takes on `priority` if that is larger.
  Tokens insert(const TokenKey& key, std::int32_t priority, bool chunked);
  /// A locked node and all above it are protected from eviction.
  void lock(Node node);
  void unlock(Node node);
  /// Removes whole unlocked leaves, first the one that the policy gives up first, until at least `wanted` tokens are
  /// free or none is left; returns the tokens freed.
  Tokens evict(Tokens wanted);
  void clear();

  Tokens evictable() const { return evictable_; }  ///< tokens of unlocked nodes
  Tokens protected_tokens() const { return protected_; }

  /// The tree below, in the order in which the children came (the upper part of a cut node keeps its place).
  Node parent(Node node) const { return nodes_[node].parent; }  ///< kNone above the root
  Node first_child(Node node) const { return nodes_[node].first; }
  Node next_sibling(Node node) const { return nodes_[node].next; }
  const TokenEdge& edge(Node node) const { return nodes_[node].edge; }
  std::int32_t locks(Node node) const { return nodes_[node].locks; }
  std::int32_t hits(Node node) const { return nodes_[node].hits; }
  std::int32_t priority(Node node) const { return nodes_[node].priority; }
  std::size_t node_slots() const { return nodes_.size(); }  ///< every node id is below

 private:
  /// In the first cache line what a walk down looks at.
  struct alignas(64) TreeNode {
    Node parent = kNone;
    std::int32_t locks = 0;
    Tokens tokens = 0;
    TokenEdge edge;
    std::uint64_t accessed = 0, created = 0;  ///< created: 0 when the slot is free
    Node first = kNone, last = kNone, previous = kNone, next = kNone;
    std::int32_t hits = 0, priority = 0;
    bool queued = false;     ///< has an entry in the heap
    std::uint64_t hash = 0;  ///< under which the index holds it
  };
  using Value = std::pair<std::int64_t, std::int64_t>;  ///< the smallest is given up first
  struct Entry {
    Value value;
    std::uint64_t created;
    Node node;
  };

  Node child(Node parent, const TokenCursor& at, std::uint64_t hash) const;
  Node descend(Node node, TokenCursor& at, std::uint64_t now, Tokens& matched);
  Node make_node();
  Node split(Node lower, Tokens tokens);
  void add_child(Node parent, Node node);
  void remove(Node node);
  void tell_stored(Node leaf, const TokenKey& key, Tokens present);
  void tell_removed(Node node);
  void touch(Node node, std::uint64_t now);
  void count_hit(Node node, std::int32_t priority, bool chunked);
  Value value(const TreeNode& n) const;
  bool evictable_leaf(const TreeNode& n) const { return n.created != 0 && n.locks == 0 && n.first == kNone; }
  void offer(Node node);
  Node next_victim();
  void tidy_heap();

  Tokens page_;
  SglangArgs::Eviction policy_;
  LargeVector<TreeNode> nodes_;
  std::vector<Node> free_;
  HashIndex index_;
  std::vector<Entry> heap_;
  std::uint64_t clock_ = 0;
  Tokens evictable_ = 0, protected_ = 0;
  KvEvents* events_ = nullptr;                     ///< null: nobody wants to know
  std::vector<std::vector<std::uint64_t>> pages_;  ///< by node, where somebody does: what its pages are called
};

}  // namespace poolcast
