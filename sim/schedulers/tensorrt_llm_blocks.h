// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/request_table.h"
#include "sim/schedulers/tensorrt_llm_args.h"
#include "sim/schedulers/tensorrt_llm_tree.h"

namespace poolcast {

/// The KV blocks of a replica of TensorRT-LLM, with or without reuse (kvCacheManager.cpp and evictionPolicy.cpp, read
/// in versions of late 2025 and 2026; one window, no host tier, no retention settings, so that all blocks have the
/// default priority and one free queue).
///
///  - Free blocks lie in a first-in-first-out queue, whether their tokens may be found again or not. A block that is
///    taken from its front leaves the tree with everything below it.
///  - A request gets the blocks of its whole prompt when its first chunk is scheduled, and one more whenever its tokens
///    fill the last. A lookup shares full blocks, and takes over or copies one that matches in part.
///  - Full blocks enter the tree after each chunk, generated ones and the last part only when the request leaves or is
///    paused. Its blocks then go to the end of the queue, the last block first.
/// Without reuse blocks are counted, not named. Blocks that decoding requests open are told apart only when they leave.
class TrtBlocks {
 public:
  TrtBlocks(const TensorrtLlmArgs& args, RequestTable& table);

  std::int64_t blocks(std::int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  std::int64_t free() const { return free_; }
  std::int64_t usable() const { return usable_; }
  bool reuses() const { return reuses_; }
  /// From now on what enters the tree and leaves it is told to `events`, which outlives this.
  void tell(KvEvents* events) { tree_.tell(events); }

  /// A request starts to wait here.
  void open_table(RequestId id);

  /// What the tree holds of the full blocks of a request's first `tokens` tokens.
  struct Found {
    std::int64_t blocks = 0;
    std::int64_t referenced = 0;  ///< of those, in use
    std::uint64_t next = 0;       ///< hash of the first full block that it lacks; 0: none
    bool shareable = false;       ///< that block may be asked for by others
  };
  Found look_up(RequestId id, std::int64_t tokens);
  /// Gives a request the blocks of its first `tokens` tokens. Returns how many of these tokens it need not compute, or
  /// -1 when there are not enough blocks; then nothing has changed.
  std::int64_t add_sequence(RequestId id, std::int64_t tokens);
  /// `count` blocks for decoding requests.
  void open(std::int64_t count);
  /// The first `tokens` tokens of a prompt have been computed: its full blocks may be found.
  void store_prompt(RequestId id, std::int64_t tokens);

  enum class Leaving { kEnded, kPaused };
  /// Takes the blocks of a request back, `held` of whose tokens are allocated for and `computed` have been computed.
  void release(RequestId id, std::int64_t held, std::int64_t computed, Leaving how);

  /// The blocks of a request that has ended, kept for a while.
  struct Kept {
    KvTable kv;
    Content content;
    std::int64_t prompt = 0;
    std::uint64_t own = 0;
    std::int64_t tokens = 0;
  };
  void keep(RequestId id, std::int64_t tokens, Kept& kept);
  void release(Kept& kept);

  /// Releases that are only imagined, until the next `start_imagining`.
  void start_imagining() { ++imagined_; }
  /// Blocks that would become free if this request, which holds `held` tokens, left as well.
  std::int64_t imagine_release(RequestId id, std::int64_t held);

  std::int64_t listed_blocks() const { return listed_; }  ///< for tests

 private:
  static constexpr std::uint32_t kNone = HashIndex::kNone;

  /// A request's blocks and what its tokens are.
  struct Sequence {
    KvTable& kv;
    const Content& content;
    std::int64_t prompt;
    std::uint64_t own;
  };
  struct Block {
    std::uint32_t users = 0;
    std::uint32_t previous = kNone, next = kNone;  ///< in the queue of free blocks
    std::uint32_t left = 0;                        ///< users that would be left …
    std::uint64_t imagined = 0;                    ///< … in this round of imagined releases
  };

  Sequence sequence(RequestId id);
  bool nameless(const Sequence& s) const;
  void find_chain(const Sequence& s, std::int64_t full);
  std::int64_t share_part(Sequence s, std::int64_t full, std::int64_t tokens);
  void store(Sequence s, std::int64_t tokens, bool partial, bool paused);
  void release(Sequence s, std::int64_t held, std::int64_t computed, Leaving how);
  void insert(std::uint32_t block, std::uint32_t parent, std::uint64_t hash);
  void remove(std::uint32_t block);
  std::uint32_t take();
  void claim(std::uint32_t block);
  void push_free(std::uint32_t block);
  void unlink_free(std::uint32_t block);

  std::int64_t block_size_;
  std::int64_t usable_;
  std::int64_t free_;
  bool reuses_;
  bool partial_;
  RequestTable& table_;

  TrtTree tree_;
  std::int64_t listed_ = 0;
  std::uint64_t changes_ = 0;  ///< of the tree
  struct Chain {
    std::uint64_t own = 0;  ///< whose
    std::uint64_t changes = 0;
    std::int64_t asked = 0;
    std::vector<std::uint32_t> blocks;  ///< fewer than asked for: the next one is not there
  } chain_;                             ///< the last one found
  std::vector<Block> pool_;             ///< blocks used so far; those never used stand before all others in the queue
  std::uint32_t free_head_ = kNone, free_tail_ = kNone;
  std::vector<std::uint32_t> spare_;  ///< opened for decoding requests
  std::vector<Segment> key_;          ///< scratch
  std::uint64_t imagined_ = 0;
};

}  // namespace poolcast
