// SPDX-License-Identifier: Apache-2.0
#include "sim/pool_router.h"

#include <algorithm>
#include <string>

#include "sim/policies/registry.h"
#include "sim/schedulers/registry.h"

namespace poolcast {

PoolRouter::PoolRouter(const SimulationSpec& spec, PoolId pool, const std::vector<std::unique_ptr<Replica>>& engines,
                       std::uint32_t first, const SimTime& now)
    : spec_(spec.pools[pool.value]),
      engines_(engines),
      now_(now),
      seed_(spec.seed),
      first_(first),
      ranks_(static_cast<std::uint32_t>(spec_.ranks)),
      log_(spec.log),
      pool_(pool),
      policy_name_(spec.routing.pool[pool.value].name) {
  const PolicySpec& policy = spec.routing.pool[pool.value];
  const auto size = static_cast<std::uint32_t>(spec_.replicas);
  policy_ = make_policy(policy.name, seed_, "pool/" + spec_.name);
  load_.assign(size, 0);
  weight_.assign(size, 1.0);
  std::vector<std::uint32_t> borders = {first};
  for (std::uint32_t r = 0; r < size; ++r) {
    everyone_.push_back(r);
    borders.push_back(first + (r + 1) * ranks_);
    if (ranks_ > 1) groups_.push_back(make_group(borders[r], spec_.balancer.name));
  }
  for (std::uint32_t rank = 0; ranks_ > 1 && rank < ranks_; ++rank) {
    all_ranks_.push_back(rank);
    even_.push_back(1);
  }
  signals_ = std::make_unique<EngineSignals>(engines, now, std::move(borders));
  const bool reads_busy = policy.pipeline && routing::reads_busy(*policy.pipeline);
  if (reads_busy) signals_->watch_busy(policy.signals.busy_window);
  if (!policy.signals.instant() || (reads_busy && !policy.signals.busy.instant())) {
    seen_ = std::make_unique<SeenSignals>(policy.signals, *signals_, size, reads_busy);
  }
  if (policy.pipeline) {
    const std::int64_t blocks = engines[first]->report().kv_blocks_usable * ranks_;
    if (routing::exact_producer(*policy.pipeline)) {
      const std::int64_t block = std::max<std::int64_t>(1, block_size(spec_.engine));
      caches_ = std::make_unique<SeenCaches>(engines, first, size, ranks_, block, policy.signals.prefix_delay);
    }
    picker_ = std::make_unique<EndpointPicker>(spec, pool, known(), seen_.get(), caches_.get(), blocks);
    picker_->watch(spec.log);
    rules_on_prefill_ = policy.pipeline->prefill.has_value();
  }
}

PoolRouter::Group PoolRouter::make_group(std::uint32_t first, const std::string& balancer) const {
  Group group;
  const std::string stream = "ranks/" + spec_.name + "/" + std::to_string((first - first_) / ranks_);
  group.policy = make_policy(balancer, seed_, stream);
  std::vector<std::uint32_t> borders;
  for (std::uint32_t rank = 0; rank <= ranks_; ++rank) borders.push_back(first + rank);
  group.load.assign(ranks_, 0);
  group.signals = std::make_unique<EngineSignals>(engines_, now_, std::move(borders));
  return group;
}

/// Whether a replica takes no more requests; ranks count together.
bool PoolRouter::full(std::uint32_t replica) const {
  if (ranks_ == 1) return engines_[first_ + replica]->full();
  const std::int64_t waiting = signals_->waiting(replica);
  if (waiting != spec_.max_pending_requests) return waiting > spec_.max_pending_requests;
  return waiting + signals_->running(replica) >= max_running(spec_.engine) * spec_.ranks;
}

bool PoolRouter::has_room() const {
  if (spec_.max_pending_requests == INT64_MAX) return true;
  return std::any_of(everyone_.begin(), everyone_.end(), [&](std::uint32_t r) { return !full(r); });
}

/// The replicas that take one more request.
std::span<const std::uint32_t> PoolRouter::open() {
  if (spec_.max_pending_requests == INT64_MAX) return everyone_;
  open_.clear();
  for (const std::uint32_t r : everyone_) {
    if (!full(r)) open_.push_back(r);
  }
  return open_;
}

bool PoolRouter::saturated() {
  if (seen_) seen_->look(now_);
  return picker_ && picker_->saturation(everyone_, now_) >= 1;
}

ReplicaId PoolRouter::choose(const RequestRecord& request, const Content& content) {
  const std::span<const std::uint32_t> candidates = open();
  if (seen_) seen_->look(now_);
  std::uint32_t replica = 0;
  if (picker_) {
    const auto chosen = picker_->choose(request, content, candidates, now_);
    if (!chosen) return ReplicaId();
    replica = *chosen;
  } else {
    const Candidates among{load_, weight_, candidates, &known()};
    replica = policy_->choose(among);
    if (log_ != nullptr && log_->wants(request) && everyone_.size() > 1) {
      log_->policies.push_back(DecisionLog::policy_choice(now_, pool_, policy_name_, among, replica));
    }
  }
  const std::uint32_t rank = ranks_ == 1 ? 0 : choose_rank(groups_[replica]);
  if (log_ != nullptr && log_->wants(request) && ranks_ > 1) {
    const Group& group = groups_[replica];
    log_->policies.push_back(DecisionLog::policy_choice(now_, pool_, spec_.balancer.name,
                                                        {group.load, even_, all_ranks_, group.signals.get()}, rank));
    log_->policies.back().ranks_of = replica;
  }
  return ReplicaId(first_ + replica * ranks_ + rank);
}

std::uint32_t PoolRouter::choose_rank(Group& group) {
  return group.policy->choose({group.load, even_, all_ranks_, group.signals.get()});
}

void PoolRouter::added(ReplicaId engine, RequestId id) {
  if (picker_) picker_->added((engine.value - first_) / ranks_, id, now_);
  change_load(engine, +1);
}

void PoolRouter::removed(ReplicaId engine, RequestId id) {
  if (picker_) picker_->removed((engine.value - first_) / ranks_, id);
  change_load(engine, -1);
}

void PoolRouter::answered(const RequestRecord& request, std::int64_t output) {
  if (!picker_ || !picker_->listens()) return;
  const bool completed = request.outcome == Outcome::kCompleted;
  picker_->answered((request.replica.value - first_) / ranks_,
                    {request.at.routed, now_, request.prompt_tokens, output, completed});
}

void PoolRouter::change_load(ReplicaId engine, std::int64_t by) {
  const std::uint32_t place = engine.value - first_;
  load_[place / ranks_] += by;
  if (ranks_ > 1) groups_[place / ranks_].load[place % ranks_] += by;
}

}  // namespace poolcast
