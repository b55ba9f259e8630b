// SPDX-License-Identifier: Apache-2.0
#include "sim/router.h"

#include <algorithm>
#include <string>

#include "sim/policies/registry.h"
#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

/// Where the engines of each pool begin, and one place more.
std::vector<std::uint32_t> pool_borders(const SimulationSpec& spec) {
  std::vector<std::uint32_t> borders = {0};
  for (const PoolSpec& pool : spec.pools)
    borders.push_back(borders.back() + static_cast<std::uint32_t>(pool.replicas * pool.ranks));
  return borders;
}

}  // namespace

Router::Router(const SimulationSpec& spec, const std::vector<std::unique_ptr<Replica>>& replicas, const Moves& moves)
    : spec_(spec),
      replicas_(replicas),
      moves_(moves),
      pool_signals_(*this, pool_borders(spec)),
      gateway_(spec, pool_signals_, *this) {
  const std::vector<std::uint32_t> first = pool_borders(spec);
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    pools_.push_back(make_side(spec.pools[p], spec.routing.pool[p], first[p]));
    if (pools_[p].picker) pools_[p].picker->watch(spec.log, PoolId(p));
    const auto ranks = static_cast<std::size_t>(spec.pools[p].ranks);
    while (ranks > 1 && all_.size() < ranks) {
      all_.push_back(static_cast<std::uint32_t>(all_.size()));
      even_.push_back(1);
    }
  }
}

Router::PoolSide Router::make_side(const PoolSpec& pool, const PolicySpec& policy, std::uint32_t first) const {
  const auto size = static_cast<std::uint32_t>(pool.replicas), ranks = static_cast<std::uint32_t>(pool.ranks);
  PoolSide side;
  side.first_replica = first;
  side.ranks = ranks;
  side.policy = make_policy(policy.name, spec_.seed, "pool/" + pool.name);
  side.load.assign(size, 0);
  side.weight.assign(size, 1.0);
  std::vector<std::uint32_t> borders = {first};
  for (std::uint32_t r = 0; r < size; ++r) {
    side.everyone.push_back(r);
    borders.push_back(first + (r + 1) * ranks);
    if (ranks > 1) side.groups.push_back(make_group(pool, r, borders[r]));
  }
  side.signals = std::make_unique<EngineSignals>(*this, std::move(borders));
  if (policy.pipeline) {
    const std::int64_t blocks = replicas_[first]->report().kv_blocks_usable * pool.ranks;
    side.picker = std::make_unique<EndpointPicker>(*policy.pipeline, pool, *side.signals, blocks, spec_.seed);
  }
  return side;
}

Router::Group Router::make_group(const PoolSpec& pool, std::uint32_t replica, std::uint32_t first) const {
  Group group;
  const std::string stream = "ranks/" + pool.name + "/" + std::to_string(replica);
  group.policy = make_policy(pool.balancer.name, spec_.seed, stream);
  std::vector<std::uint32_t> borders;
  for (std::int32_t rank = 0; rank <= pool.ranks; ++rank) borders.push_back(first + static_cast<std::uint32_t>(rank));
  group.load.assign(static_cast<std::size_t>(pool.ranks), 0);
  group.signals = std::make_unique<EngineSignals>(*this, std::move(borders));
  return group;
}

Router::Choice Router::route(const RequestRecord& request, const Content& content, SimTime now) {
  now_ = now;
  Choice choice;
  const Gateway::Choice gateway = gateway_.choose(request);
  choice.pool = gateway.pool;
  choice.refused = gateway.refused;
  if (choice.refused != Reason::kNone) return choice;
  follow_move(request, choice);
  if (spec_.pools[choice.pool.value].role == PoolRole::kDecode) {
    const Gateway::Choice prefill = gateway_.choose_prefill(request);
    choice.prefill_pool = prefill.pool;
    choice.refused = prefill.refused;
    if (choice.refused != Reason::kNone) return choice;
    choice.prefill_replica = choose_replica(choice.prefill_pool, request, content);
    if (!choice.prefill_replica.valid()) choice.refused = Reason::kSaturated;
  }
  choice.replica = choose_replica(choice.pool, request, content);
  if (!choice.replica.valid()) choice.refused = Reason::kSaturated;
  return choice;
}

/// A move may send the request on to another pool, if that one can take it.
void Router::follow_move(const RequestRecord& request, Choice& choice) {
  choice.turn = moves_.turn(request, choice.pool);
  if (choice.turn.move == UINT32_MAX) return;
  const PoolId to = moves_.destination(choice.turn);
  choice.turn.not_taken = gateway_.refusal(request, to);
  if (!choice.turn.chosen || choice.turn.not_taken != Reason::kNone) return;
  if (has_room(to)) {
    choice.pool = to;
  } else {
    choice.turn.not_taken = Reason::kQueueFull;
  }
}

/// Whether a replica takes no more requests; ranks count together.
bool Router::full(PoolId pool, std::uint32_t replica) const {
  const PoolSide& side = pools_[pool.value];
  if (side.ranks == 1) return replicas_[side.first_replica + replica]->full();
  const PoolSpec& spec = spec_.pools[pool.value];
  const std::int64_t waiting = side.signals->waiting(replica);
  if (waiting != spec.max_pending_requests) return waiting > spec.max_pending_requests;
  return waiting + side.signals->running(replica) >= max_running(spec.engine) * spec.ranks;
}

bool Router::has_room(PoolId pool) const {
  if (spec_.pools[pool.value].max_pending_requests == INT64_MAX) return true;
  const auto& everyone = pools_[pool.value].everyone;
  return std::any_of(everyone.begin(), everyone.end(), [&](std::uint32_t r) { return !full(pool, r); });
}

/// Not valid when the pool's endpoint picker leaves no replica.
ReplicaId Router::choose_replica(PoolId pool, const RequestRecord& request, const Content& content) {
  PoolSide& side = pools_[pool.value];
  std::span<const std::uint32_t> open = side.everyone;
  if (spec_.pools[pool.value].max_pending_requests != INT64_MAX) {
    open_.clear();
    for (const std::uint32_t r : side.everyone) {
      if (!full(pool, r)) open_.push_back(r);
    }
    open = open_;
  }
  std::uint32_t replica = 0;
  if (side.picker) {
    const auto chosen = side.picker->choose(request, content, open);
    if (!chosen) return ReplicaId();
    replica = *chosen;
  } else {
    replica = side.policy->choose({side.load, side.weight, open, side.signals.get()});
  }
  const std::uint32_t rank = side.ranks == 1 ? 0 : choose_rank(side.groups[replica]);
  return ReplicaId(side.first_replica + replica * side.ranks + rank);
}

std::uint32_t Router::choose_rank(Group& group) {
  const std::size_t ranks = group.load.size();
  return group.policy->choose(
      {group.load, std::span(even_).first(ranks), std::span(all_).first(ranks), group.signals.get()});
}

void Router::added(PoolId pool, ReplicaId replica, RequestId id) {
  PoolSide& side = pools_[pool.value];
  if (side.picker) side.picker->added((replica.value - side.first_replica) / side.ranks, id);
  change_load(pool, replica, +1);
}

void Router::removed(PoolId pool, ReplicaId replica, RequestId id) {
  PoolSide& side = pools_[pool.value];
  if (side.picker) side.picker->removed((replica.value - side.first_replica) / side.ranks, id);
  change_load(pool, replica, -1);
}

void Router::tell_faults(std::vector<std::string>& notes) const {
  for (const PoolSide& side : pools_) {
    if (side.picker) side.picker->tell_faults(notes);
  }
}

void Router::change_load(PoolId pool, ReplicaId engine, std::int64_t by) {
  PoolSide& side = pools_[pool.value];
  const std::uint32_t place = engine.value - side.first_replica;
  side.load[place / side.ranks] += by;
  if (side.ranks > 1) side.groups[place / side.ranks].load[place % side.ranks] += by;
  gateway_.change_load(pool, by);
}

// ---------------------------------------------------------------- signals

std::int64_t Router::EngineSignals::waiting(std::uint32_t index) const {
  std::int64_t sum = 0;
  for (std::uint32_t r = borders_[index]; r < borders_[index + 1]; ++r) sum += router_.replicas_[r]->waiting();
  return sum;
}

std::int64_t Router::EngineSignals::running(std::uint32_t index) const {
  std::int64_t sum = 0;
  for (std::uint32_t r = borders_[index]; r < borders_[index + 1]; ++r) sum += router_.replicas_[r]->running();
  return sum;
}

double Router::EngineSignals::kv_usage(std::uint32_t index) const {
  double sum = 0;
  for (std::uint32_t r = borders_[index]; r < borders_[index + 1]; ++r)
    sum += router_.replicas_[r]->kv_usage(router_.now_);
  return sum / static_cast<double>(borders_[index + 1] - borders_[index]);
}

}  // namespace poolcast
