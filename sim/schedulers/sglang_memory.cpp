// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/sglang_memory.h"

namespace poolcast {

SglangMemory::SglangMemory(const SglangArgs& args)
    : page_(args.page_size),
      capacity_(args.max_total_num_tokens / args.page_size * args.page_size),
      available_(capacity_),
      caches_(!args.disable_radix_cache),
      tree_(args.page_size, args.radix_eviction_policy) {}

void SglangMemory::find(SglangJob& job, Tokens tokens) {
  if (!caches_) return;
  const RadixCache::Match found = tree_.match(job.key(tokens));
  job.matched = found.node;
  job.prefix = job.guarded = found.tokens;
}

void SglangMemory::stash(SglangJob& job, bool chunked) {
  job.prefix = job.extend_end;
  if (!caches_) return;
  const Tokens whole = job.extend_end / page_ * page_;
  const Tokens present = tree_.insert(job.key(whole), job.priority, chunked);
  free_between(job.guarded, present);  // its own copies of what the tree has
  const RadixCache::Match found = tree_.match(job.key(whole));
  tree_.unlock(job.node);
  tree_.lock(found.node);
  job.node = found.node;
  job.guarded = whole;
}

void SglangMemory::finish(SglangJob& job) {
  if (caches_) {
    const Tokens whole = job.committed / page_ * page_;
    const Tokens present = tree_.insert(job.key(whole), job.priority, false);
    free_between(job.guarded, present);
    job.guarded = whole;
  }
  release(job);
}

void SglangMemory::release(SglangJob& job) {
  free_between(job.guarded, job.committed);
  tree_.unlock(job.node);
  job.node = RadixCache::kRoot;
  job.guarded = job.prefix = job.committed = 0;
}

}  // namespace poolcast
