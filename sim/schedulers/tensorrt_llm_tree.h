// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/content.h"
#include "sim/schedulers/prefix_index.h"

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
  static constexpr std::uint32_t kNone = PrefixIndex::kNone;
  static constexpr std::uint32_t kRoot = kNone;  ///< as a parent

  bool listed(std::uint32_t block) const { return block < nodes_.size() && nodes_[block].listed; }
  bool leaf(std::uint32_t block) const { return nodes_[block].first_child == kNone; }
  /// The full node with this hash, or kNone.
  std::uint32_t find(std::uint64_t hash) const { return index_.find(hash); }

  /// Makes `block` a node. `hash` is 0 for a partial one; `branches`: it may be found by a part of its tokens.
  void insert(std::uint32_t block, std::uint32_t parent, std::uint64_t hash, const std::vector<Segment>& key,
              bool branches);
  /// Removes a node and all below it; returns how many.
  std::int64_t remove(std::uint32_t block);

  struct Shared {
    std::uint32_t block = kNone;
    std::int64_t tokens = 0;
    bool whole = false;  ///< both keys are equal
  };
  /// The child of `parent` that shares most leading tokens with `key`; of equals the one entered first.
  Shared longest_shared(std::uint32_t parent, const std::vector<Segment>& key) const;

 private:
  struct Node {
    std::vector<Segment> key;
    std::uint64_t hash = 0;
    std::uint32_t parent = kNone;
    std::uint32_t first_child = kNone;
    std::uint32_t previous = kNone, next = kNone;              ///< children of one parent
    std::uint32_t alike_previous = kNone, alike_next = kNone;  ///< of those, with the same first token
    bool listed = false;
    bool branches = false;
  };
  static std::uint64_t branch(std::uint32_t parent, const Segment& first);
  void unlist(std::uint32_t block);
  void link_alike(std::uint32_t block);
  void unlink_alike(std::uint32_t block);

  std::vector<Node> nodes_;
  PrefixIndex index_;     ///< full nodes
  PrefixIndex branches_;  ///< the newest node with a parent and a first token
  std::vector<std::uint32_t> doomed_;
};

}  // namespace poolcast
