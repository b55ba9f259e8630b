// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "sim/content.h"
#include "sim/kv_events.h"
#include "sim/schedulers/hash_index.h"

namespace poolcast {

/// The tokens of one request in order, for reading from any place: its prompt, then its output; what its content does
/// not name is like no other token (`own`, as in KvTable).
class TrtTokens {
 public:
  TrtTokens(const Content& content, std::int64_t prompt_tokens, std::uint64_t own)
      : content_(content), prompt_(prompt_tokens), own_(own) {}
  /// Reads tokens `from` to `end` into `key`, pieces that continue each other joined. Reading on is cheap, going back
  /// starts over.
  void read(std::int64_t from, std::int64_t end, std::vector<Segment>& key);

 private:
  Segment piece_at(std::int64_t position);

  const Content& content_;
  std::int64_t prompt_;
  std::uint64_t own_;
  std::size_t segment_ = 0;  ///< of the prompt
  std::int64_t begins_ = 0;  ///< position of its first token
};

/// TensorRT-LLM's radix tree of reusable KV blocks (cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp): a node is a
/// block, its key the block's tokens. Only the last block of a sequence may be a node with fewer tokens than a block
/// holds; it is always a leaf. A full node is found by the hash of all tokens up to its end (KvTable::hash).
class TrtTree {
 public:
  static constexpr std::uint32_t kNone = HashIndex::kNone;
  static constexpr std::uint32_t kRoot = kNone;  ///< as a parent

  TrtTree() : ordered_(InOrder{&nodes_}) {}
  TrtTree(const TrtTree&) = delete;
  TrtTree& operator=(const TrtTree&) = delete;

  /// From now on full nodes that come and go are told to `events`, which outlives this.
  void tell(KvEvents* events) { events_ = events; }
  bool listed(std::uint32_t block) const { return block < nodes_.size() && nodes_[block].listed; }
  bool leaf(std::uint32_t block) const { return nodes_[block].first_child == kNone; }
  void prefetch(std::uint64_t hash) const { index_.prefetch(hash); }
  /// The full node with this hash, or kNone.
  std::uint32_t find(std::uint64_t hash) const { return index_.find(hash); }

  /// Makes `block` a node. `hash` is 0 for a partial one. An empty key: it is never found by a part of its tokens.
  void insert(std::uint32_t block, std::uint32_t parent, std::uint64_t hash, const std::vector<Segment>& key);
  /// Removes a node and all below it; returns how many.
  std::int64_t remove(std::uint32_t block);

  struct Shared {
    std::uint32_t block = kNone;
    std::int64_t tokens = 0;
    bool whole = false;  ///< both keys are equal
  };
  /// The child of `parent` that shares most leading tokens with `key`. Which of equals upstream takes is left to a hash
  /// map; here it is one next to it in the order of tokens, or
  /// the youngest of a few.
  Shared longest_shared(std::uint32_t parent, const std::vector<Segment>& key) const;

 private:
  static constexpr std::int32_t kFew = 8;  ///< children that are looked through one by one

  struct Node {
    std::vector<Segment> key;
    std::uint64_t hash = 0;
    std::uint32_t parent = kNone;
    std::uint32_t first_child = kNone;
    std::uint32_t previous = kNone, next = kNone;  ///< children of one parent
    std::int32_t children = 0;
    bool many = false;  ///< its children are in `ordered_`
    bool listed = false;
  };
  struct Probe {
    std::uint32_t parent;
    const std::vector<Segment>* key;
  };
  /// By parent, then by tokens: whoever shares most tokens with a key stands next to its place.
  struct InOrder {
    using is_transparent = void;
    const std::vector<Node>* nodes;
    Probe probe(std::uint32_t block) const { return {(*nodes)[block].parent, &(*nodes)[block].key}; }
    Probe probe(const Probe& p) const { return p; }
    static bool before(const Probe& a, const Probe& b);
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return before(probe(a), probe(b));
    }
  };
  Node& above(const Node& node) { return node.parent == kRoot ? root_ : nodes_[node.parent]; }
  void join_parent(std::uint32_t block);
  void leave_parent(std::uint32_t block);

  KvEvents* events_ = nullptr;  ///< null: nobody wants to know
  Node root_;
  std::vector<Node> nodes_;
  HashIndex index_;                           ///< full nodes
  std::set<std::uint32_t, InOrder> ordered_;  ///< children of nodes that have had more than a few
  std::vector<std::uint32_t> doomed_;
};

}  // namespace poolcast
