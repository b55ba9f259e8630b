// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/request_table.h"
#include "sim/schedulers/cached_runs.h"
#include "sim/schedulers/host_tier.h"

namespace poolcast {

/// The KV blocks of a replica, with or without vLLM V1's prefix cache (vllm/v1/core/block_pool.py and
/// kv_cache_manager.py at 017e9f4448).
///
/// Blocks are counted, not named: nothing depends on which block it is. With the prefix cache:
///  - a full block gets its hash when its tokens are scheduled, so that a request admitted later in the same step can
///    hit it; the same tokens may lie in several blocks, and a lookup finds the one that was entered first;
///  - a block that nobody uses any more stays cached and lies in the free queue until its turn comes. A request's
///    blocks go there tail first: those with a hash to the end, the others to the front;
///  - a hit takes blocks that nobody uses out of the free queue, so it costs free blocks as a new block does.
/// Blocks that were cached together stay together (CachedRuns). What leaves the device is kept on the host if there is
/// a tier for it: there a block counts as used last when a request that held it leaves, the tail of the request before
/// its head.
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
  /// From now on what enters the prefix cache and leaves it is told to `events`, which outlives this.
  void tell(KvEvents* events) { runs_.tell(events); }

  /// A request starts to wait here.
  void open_table(RequestId id);
  /// With the prefix cache: blocks that a request has been told of, and how many of them count as cached.
  std::int64_t held(RequestId id) const { return table_.held(id).count(); }
  std::int64_t entered(RequestId id) const { return table_.held(id).cached; }

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
  bool continued_by(RequestId other, std::int64_t tokens) const;
  /// Gives a request the blocks of the last `match`, and new ones for its tokens up to `end`.
  void admit(RequestId id, std::int64_t end);
  /// The same for tokens whose KV is still to come: new blocks are cached when `settle` tells that it has.
  void admit_empty(RequestId id, std::int64_t end);
  /// New blocks for the tokens `from` to `end` of a prompt.
  void grow(RequestId id, std::int64_t from, std::int64_t end);
  /// `count` new blocks for a request; its first `known` tokens are known, so that full blocks of theirs are cached.
  void extend(RequestId id, std::int64_t count, std::int64_t known);
  /// `count` blocks for decoding requests, which are told of them by `settle` or when they leave.
  void open(std::int64_t count) { take(count); }
  /// Tells a decoding request of its blocks; it holds `tokens` tokens.
  void settle(RequestId id, std::int64_t tokens);

  enum class Leaving { kEnded, kPreempted };
  /// Takes the blocks of `held` tokens back. The first `computed` of them stay cached, the others only if
  /// `keep_uncomputed` (as vLLM does with a victim that had been scheduled in the same step).
  void release(RequestId id, std::int64_t held, std::int64_t computed, Leaving how = Leaving::kEnded,
               bool keep_uncomputed = false);

 private:
  using Run = CachedRuns::Run;

  void take(std::int64_t count) {
    free_ -= count;
    const std::int64_t blank = std::min(blank_, count);
    blank_ -= blank;
    if (blank < count) runs_.take(count - blank);
  }
  std::int64_t reach(RequestId id, std::int64_t tokens) const;
  void enter(HeldBlocks& held, std::int64_t tokens);
  void list(HeldBlocks& held, std::int64_t blocks, bool uncomputed);
  void keep_private(HeldBlocks& held, std::int64_t blocks);
  void take_back_uncomputed(HeldBlocks& held, std::int64_t done, bool keep);
  void list_private(HeldBlocks& held, std::int64_t done, bool keep);
  void keep_on_host(RequestId id, std::int64_t blocks);
  template <class Do>
  void for_runs(const HeldBlocks& held, Do act) const;

  std::int64_t block_size_;
  std::int64_t usable_;
  std::int64_t free_;
  std::int64_t blank_;  ///< of the free blocks, those without a hash: the front of the free queue
  bool caches_;
  RequestTable& table_;

  HostTier host_;
  CachedRuns runs_;                       ///< those with a hash; unused ones are the end of the free queue
  RequestId asked_{};                     ///< by the last match …
  std::vector<CachedRuns::Match> found_;  ///< … which found these
  std::int64_t found_blocks_ = 0;
};

}  // namespace poolcast
