// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/schedulers/radix_cache.h"
#include "sim/schedulers/sglang_args.h"
#include "sim/schedulers/sglang_job.h"

namespace poolcast {

/// The KV memory of SGLang: free pages, and the radix tree of what is cached (mem_cache/allocator, radix_cache.py,
/// chunk_cache.py and common.py at 8905cbd). Slots are counted in tokens, always whole pages.
class SglangMemory {
 public:
  explicit SglangMemory(const SglangArgs& args);

  Tokens capacity() const { return capacity_; }
  Tokens available() const { return available_; }
  Tokens evictable() const { return tree_.evictable(); }
  Tokens reachable() const { return available_ + tree_.evictable(); }
  Tokens used() const { return capacity_ - reachable(); }
  bool caches() const { return caches_; }
  RadixCache& tree() { return tree_; }
  const RadixCache& tree() const { return tree_; }
  Tokens page() const { return page_; }
  Tokens ceil(Tokens tokens) const { return (tokens + page_ - 1) / page_ * page_; }

  /// Evicts `tokens` tokens - not what is missing of them - when fewer are free.
  void make_room(Tokens tokens) {
    if (available_ < tokens) available_ += tree_.evict(tokens);
  }
  /// Takes whole pages that are free; false (and nothing taken) when there are not enough.
  bool take(Tokens tokens) {
    if (tokens > available_) return false;
    available_ -= tokens;
    return true;
  }

  /// Looks up the first `tokens` tokens of the job: sets `prefix`, `guarded` and `matched`.
  void find(SglangJob& job, Tokens tokens);
  /// Puts what has been prefilled into the tree, where others may find it; the job goes on with what the tree holds
  /// ("cache_unfinished_req").
  void stash(SglangJob& job, bool chunked);
  /// Puts everything into the tree and lets go of it ("cache_finished_req").
  void finish(SglangJob& job);
  /// Lets go of everything; what is not in the tree is lost.
  void release(SglangJob& job);

 private:
  void free_between(Tokens from, Tokens to) {
    if (to > from) available_ += ceil(to) - ceil(from);
  }

  Tokens page_;
  Tokens capacity_;
  Tokens available_;
  bool caches_;
  RadixCache tree_;
};

}  // namespace poolcast
