// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "sim/random.h"
#include "sim/schedulers/sglang_args.h"
#include "sim/schedulers/sglang_job.h"
#include "sim/schedulers/sglang_memory.h"

namespace poolcast {

/// The order in which SGLang tries its waiting requests (managers/schedule_policy.py at 8905cbd): the queue is sorted
/// in place before every try, stably, so that what one sort did outlives the next.
class SglangPolicy {
 public:
  using Job = SglangJobs::Job;

  SglangPolicy(const SglangArgs& args, SglangJobs& jobs, SglangMemory& memory);

  void sort(std::deque<Job>& waiting);

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;

  void sort_by_keys(std::deque<Job>& waiting);
  /// Looks every waiting request up. True for those that should let another one of the queue fill the cache first.
  std::vector<bool> match_all(const std::deque<Job>& waiting);
  void longest_prefix(std::deque<Job>& waiting);
  void depth_first(std::deque<Job>& waiting);
  void visit(RadixCache::Node node, const std::vector<std::vector<Job>>& here, std::deque<Job>& order);
  void shuffle(std::deque<Job>& waiting);

  const SglangArgs& args_;
  SglangJobs& jobs_;
  SglangMemory& memory_;
  SglangArgs::Policy policy_;
  RandomStream random_;
  RadixCache queue_tree_;             ///< prefixes within the queue
  std::vector<std::int64_t> weight_;  ///< waiting requests at or below a node
  std::vector<std::pair<Key, Job>> keys_;
};

}  // namespace poolcast
