// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/huge_pages.h"
#include "sim/request_table.h"
#include "sim/schedulers/hash_index.h"
#include "sim/schedulers/host_tier.h"
#include "sim/schedulers/idle_queue.h"

namespace poolcast {

/// The KV blocks of a replica, with or without vLLM V1's prefix cache (vllm/v1/core/block_pool.py and
/// kv_cache_manager.py at 017e9f4448).
///
/// Without it blocks are counted, not named: nothing depends on which block it is. With it:
///  - a full block gets its hash when its tokens are scheduled, so that a request admitted later in the same step can
///    hit it; the same tokens may lie in several blocks, and a lookup finds the one that was entered first;
///  - a block that nobody uses any more stays cached and lies in the free queue until its turn comes. A request's
///  blocks
///    go there tail first: those with a hash to the end, the others to the front;
///  - a hit takes blocks that nobody uses out of the free queue, so it costs free blocks as a new block does.
/// What leaves the device is kept on the host if there is a tier for it: there a block counts as used last when a
/// request that held it leaves, the tail of the request before its head.
///
/// Blocks that decoding requests open are taken from the queue at once and told apart only when it matters, when the
/// request leaves or others may look for its output: which request got which of them makes no difference.
class KvBlocks {
 public:
  /// `host_blocks`: that are also kept on the host; needs the prefix cache.
  KvBlocks(std::int64_t block_size, std::int64_t usable, bool prefix_cache, RequestTable& table,
           std::int64_t host_blocks = 0);

  std::int64_t blocks(std::int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  std::int64_t block_size() const { return block_size_; }
  std::int64_t free() const { return free_; }
  std::int64_t usable() const { return usable_; }
  bool caches() const { return caches_; }

  /// A request starts to wait here.
  void open_table(RequestId id);

  /// The longest cached chain of a request's full blocks, the last of its tokens left out.
  struct Match {
    std::int64_t blocks = 0;
    std::int64_t idle = 0;        ///< of those, how many nobody uses: a hit takes them out of the free queue
    std::int64_t uncomputed = 0;  ///< of those, how many were never computed
  };
  /// With `drop_last` the last block that was found is left out (EAGLE needs the hidden states of its tokens).
  Match match(RequestId id, std::int64_t tokens, bool drop_last = false);
  bool keeps_on_host() const { return host_.on(); }
  /// Full blocks of `tokens` tokens behind the first `from` that the host holds, up to the first that it does not.
  std::int64_t match_on_host(RequestId id, std::int64_t tokens, std::int64_t from);
  /// Whether the chain of the last `match` might go on with the output of `other`, computed up to `tokens`.
  bool continued_by(RequestId other, std::int64_t tokens);
  /// Gives a request the blocks of the last `match`, and new ones for its tokens up to `end`.
  void admit(RequestId id, std::int64_t end);
  /// The same for tokens whose KV is still to come: new blocks are cached when `settle` tells that it has.
  void admit_empty(RequestId id, std::int64_t end);
  /// New blocks for the tokens `from` to `end` of a prompt.
  void grow(RequestId id, std::int64_t from, std::int64_t end);
  /// `count` new blocks for a request; its first `known` tokens are known, so that full blocks of theirs are cached.
  void extend(RequestId id, std::int64_t count, std::int64_t known);
  /// `count` blocks for decoding requests.
  void open(std::int64_t count) {
    free_ -= count;
    if (caches_) reserve(count);
  }
  /// Tells the blocks of a decoding request apart, which holds `tokens` tokens.
  void settle(RequestId id, std::int64_t tokens);

  enum class Leaving { kEnded, kPreempted };
  /// Takes the blocks of `held` tokens back. The first `computed` of them stay cached, the others only if
  /// `keep_uncomputed` (as vLLM does with a victim that had been scheduled in the same step).
  void release(RequestId id, std::int64_t held, std::int64_t computed, Leaving how = Leaving::kEnded,
               bool keep_uncomputed = false);

 private:
  static constexpr std::uint32_t kNone = HashIndex::kNone;
  static constexpr std::uint64_t kNoHash = 0;
  static constexpr std::uint64_t kUnlisted = 1;  ///< full, but no other request can ask for its tokens

  struct Block {
    std::uint64_t hash = kNoHash;
    std::uint32_t users : 31;
    std::uint32_t uncomputed : 1;
    std::uint32_t next_copy = kNone;  ///< entered later under the same hash
    Block() : users(0), uncomputed(0) {}
  };

  void prefetch(std::uint32_t block) const {
    __builtin_prefetch(&pool_[block]);
    idle_.prefetch(block);
  }
  void reserve(std::int64_t count);
  std::uint32_t take();
  void hand_out(KvTable& table, std::int64_t count);
  void enter(RequestId id, std::int64_t tokens);
  void list(std::uint32_t block, std::uint64_t hash);
  void unlist(std::uint32_t block);

  std::int64_t block_size_;
  std::int64_t usable_;
  std::int64_t free_;
  bool caches_;
  RequestTable& table_;

  HostTier host_;
  HashIndex index_;
  LargeVector<Block> pool_;           ///< blocks used so far
  std::vector<std::uint32_t> blank_;  ///< the front of the free queue, foremost last; behind it lie blocks never used
  IdleQueue idle_;                    ///< the end of the free queue
  std::vector<std::uint32_t> spare_;  ///< opened for decoding requests
  std::vector<std::uint32_t> found_;  ///< of the last match
  std::uint64_t last_hash_ = 0;       ///< of the last block found
};

}  // namespace poolcast
