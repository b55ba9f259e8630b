// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/sglang_policy.h"

#include <algorithm>
#include <limits>

namespace poolcast {
namespace {

constexpr std::size_t kLongQueue = 128;  // beyond it lpm does not sort at all

SglangArgs::Policy effective(const SglangArgs& args) {
  using Policy = SglangArgs::Policy;
  const bool needs_tree = args.schedule_policy == Policy::kLpm || args.schedule_policy == Policy::kDfsWeight;
  return needs_tree && args.disable_radix_cache ? Policy::kFcfs : args.schedule_policy;
}

}  // namespace

SglangPolicy::SglangPolicy(const SglangArgs& args, SglangJobs& jobs, SglangMemory& memory)
    : args_(args),
      jobs_(jobs),
      memory_(memory),
      policy_(effective(args)),
      random_(args.random_seed, "sglang/random"),
      queue_tree_(1, SglangArgs::Eviction::kLru) {}

void SglangPolicy::sort(std::deque<Job>& waiting) {
  switch (policy_) {
    case SglangArgs::Policy::kFcfs:
      if (args_.enable_priority_scheduling) sort_by_keys(waiting);
      return;
    case SglangArgs::Policy::kLof:
      return sort_by_keys(waiting);
    case SglangArgs::Policy::kLpm:
      if (waiting.size() <= kLongQueue) longest_prefix(waiting);
      return;
    case SglangArgs::Policy::kDfsWeight:
      return depth_first(waiting);
    case SglangArgs::Policy::kRandom:
      return shuffle(waiting);
  }
}

/// By priority where priorities count, then by arrival (fcfs) or by the longest declared output (lof).
void SglangPolicy::sort_by_keys(std::deque<Job>& waiting) {
  const std::int64_t sign = args_.schedule_low_priority_values_first ? 1 : -1;
  keys_.clear();
  for (const Job j : waiting) {
    const SglangJob& job = jobs_[j];
    const bool lof = policy_ == SglangArgs::Policy::kLof;
    const std::int64_t first = args_.enable_priority_scheduling ? sign * job.priority : 0;
    keys_.push_back({{first, lof ? -job.max_new : static_cast<std::int64_t>(job.entry)}, j});
  }
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (std::is_sorted(keys_.begin(), keys_.end(), before)) return;
  std::stable_sort(keys_.begin(), keys_.end(), before);
  for (std::size_t i = 0; i < keys_.size(); ++i) waiting[i] = keys_[i].second;
}

std::vector<bool> SglangPolicy::match_all(const std::deque<Job>& waiting) {
  queue_tree_.clear();
  std::vector<bool> later(waiting.size());
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    SglangJob& job = jobs_[waiting[i]];
    const Tokens all = job.prompt + job.outputs;
    job.filled = all;
    memory_.find(job, all);
    if (job.prefix > args_.in_batch_prefix_check) continue;
    if (queue_tree_.match(job.key(all)).tokens >= args_.in_batch_prefix_deprioritize) {
      later[i] = true;
    } else {
      queue_tree_.insert(job.key(all), 0, false);
    }
  }
  return later;
}

void SglangPolicy::longest_prefix(std::deque<Job>& waiting) {
  const std::vector<bool> later = match_all(waiting);
  keys_.clear();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const SglangJob& job = jobs_[waiting[i]];
    const Tokens found = std::min(job.prefix, job.filled - 1);
    keys_.push_back({{later[i] ? std::numeric_limits<std::int64_t>::max() : -found, 0}, waiting[i]});
  }
  std::stable_sort(keys_.begin(), keys_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < keys_.size(); ++i) waiting[i] = keys_[i].second;
}

void SglangPolicy::depth_first(std::deque<Job>& waiting) {
  match_all(waiting);
  RadixCache& tree = memory_.tree();
  weight_.assign(tree.node_slots(), 0);
  std::vector<std::vector<Job>> here(tree.node_slots());
  for (const Job j : waiting) {
    here[jobs_[j].matched].push_back(j);
    for (RadixCache::Node n = jobs_[j].matched; n != RadixCache::kNone; n = tree.parent(n)) ++weight_[n];
  }
  waiting.clear();
  visit(RadixCache::kRoot, here, waiting);
}

/// The children of a node, the heaviest first, then the requests of the node itself.
void SglangPolicy::visit(RadixCache::Node node, const std::vector<std::vector<Job>>& here, std::deque<Job>& order) {
  const RadixCache& tree = memory_.tree();
  std::vector<RadixCache::Node> children;
  for (auto n = tree.first_child(node); n != RadixCache::kNone; n = tree.next_sibling(n)) {
    if (weight_[n] > 0) children.push_back(n);
  }
  std::stable_sort(children.begin(), children.end(), [this](auto a, auto b) { return weight_[a] > weight_[b]; });
  for (const RadixCache::Node n : children) visit(n, here, order);
  order.insert(order.end(), here[node].begin(), here[node].end());
}

/// Fisher and Yates.
void SglangPolicy::shuffle(std::deque<Job>& waiting) {
  for (std::size_t i = waiting.size(); i > 1; --i) std::swap(waiting[i - 1], waiting[random_.below(i)]);
}

}  // namespace poolcast
