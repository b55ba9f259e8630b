// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/units.h"
#include "sim/content.h"
#include "sim/ids.h"
#include "sim/schedulers/radix_cache.h"

namespace poolcast {

/// A request as SGLang's scheduler holds it. It may outlive the request: a finished one stays in the running batch
/// until the next decode filters it, and under the overlap loop it is decoded once more.
struct SglangJob {
  RequestId id;
  Tokens prompt = 0;
  Tokens max_new = 0;    ///< most tokens that it may produce, as clipped on arrival
  Tokens end = 0;        ///< tokens that it will have produced when it ends, at least 1
  Tokens outputs = 0;    ///< produced; not kept up while it decodes
  Tokens known = 0;      ///< `outputs` as far as the scheduler has seen them when it plans
  Tokens filled = 0;     ///< length of prompt and outputs at the last try to admit it; 0 before the first
  Tokens prefix = 0;     ///< tokens whose KV exists: where its next extend starts
  Tokens guarded = 0;    ///< of those, whose slots belong to the tree
  Tokens committed = 0;  ///< tokens with a KV slot; not kept up while it decodes
  Tokens extend = 0;     ///< tokens given to it in the present prefill
  Tokens extend_end = 0;
  RadixCache::Node node = RadixCache::kRoot;  ///< locked while it holds memory
  RadixCache::Node matched = RadixCache::kRoot;
  std::uint64_t entry = 0;      ///< ordinal of its entry into the waiting queue
  std::uint64_t prefilled = 0;  ///< pass in which its prefill ended
  std::int32_t middle_chunks = 0;
  std::int32_t priority = 0;
  bool ignore_eos = false;
  bool has_slot = false;
  bool decoding = false;   ///< stands in the decode set
  bool ended = false;      ///< its last token was produced
  bool finished = false;   ///< and the scheduler knows
  bool rejected = false;   ///< too long: it ends as aborted
  bool retracted = false;  ///< its results under way are thrown away
  /// The prompt, then one segment of outputs without an end.
  std::vector<Segment> content;

  TokenKey key(Tokens tokens) const { return {content, tokens}; }
};

/// Jobs by dense ids; a slot is reused two passes after it was given back, when no batch can mention it any more.
class SglangJobs {
 public:
  using Job = std::uint32_t;

  SglangJob& operator[](Job job) { return jobs_[job]; }
  const SglangJob& operator[](Job job) const { return jobs_[job]; }

  Job create() {
    if (free_.empty()) {
      jobs_.emplace_back();
      return static_cast<Job>(jobs_.size() - 1);
    }
    const Job job = free_.back();
    free_.pop_back();
    std::vector<Segment> content = std::move(jobs_[job].content);  // keeps its memory
    jobs_[job] = {};
    jobs_[job].content = std::move(content);
    return job;
  }
  void give_back(Job job) { given_back_.push_back(job); }
  void next_pass() {
    free_.insert(free_.end(), older_.begin(), older_.end());
    older_.swap(given_back_);
    given_back_.clear();
  }

 private:
  std::vector<SglangJob> jobs_;
  std::vector<Job> free_, older_, given_back_;
};

}  // namespace poolcast
