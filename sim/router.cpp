// SPDX-License-Identifier: Apache-2.0
#include "sim/router.h"

#include <algorithm>
#include <string>

#include "sim/policies/registry.h"
#include "sim/schedulers/registry.h"

namespace poolcast {

Router::Router(const SimulationSpec& spec, const std::vector<std::unique_ptr<Replica>>& replicas)
    : spec_(spec), replicas_(replicas) {
  for (const ModelSpec& model : spec.models) {
    gateway_.push_back(make_policy(spec.routing.gateway.name, spec.seed, "gateway/" + model.name));
    prefill_gateway_.push_back(make_policy(spec.routing.gateway.name, spec.seed, "gateway/prefill/" + model.name));
  }
  std::uint32_t first = 0;
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    const PoolSpec& pool = spec.pools[p];
    const auto size = static_cast<std::size_t>(pool.replicas);
    PoolSide side;
    side.first_replica = first;
    side.policy = make_policy(spec.routing.pool[p].name, spec.seed, "pool/" + pool.name);
    side.load.assign(size, 0);
    side.weight.assign(size, 1.0);
    for (std::uint32_t r = 0; r < size; ++r) side.everyone.push_back(r);
    pools_.push_back(std::move(side));
    pool_load_.push_back(0);
    const auto& weights = spec.routing.gateway.weights;
    pool_weight_.push_back(weights.empty() ? static_cast<double>(pool.replicas) : weights[p]);
    first += static_cast<std::uint32_t>(size);
  }
}

Router::Choice Router::route(ModelId model, std::int64_t prompt, std::int64_t output) {
  const ModelSpec& spec = spec_.models[model.value];
  Choice choice;
  choice.refused = choose_pool(spec, false, *gateway_[model.value], prompt, output, choice.pool);
  if (choice.refused != Reason::kNone) return choice;
  if (spec_.pools[choice.pool.value].role == PoolRole::kDecode) {
    choice.refused = choose_pool(spec, true, *prefill_gateway_[model.value], prompt, 1, choice.prefill_pool);
    if (choice.refused != Reason::kNone) return choice;
    choice.prefill_replica = choose_replica(choice.prefill_pool);
  }
  choice.replica = choose_replica(choice.pool);
  return choice;
}

/// Chooses among the pools that may serve a request of this size: those that only prefill, or all others.
Reason Router::choose_pool(const ModelSpec& model, bool prefill, Policy& policy, std::int64_t prompt,
                           std::int64_t output, PoolId& chosen) {
  open_.clear();
  Reason refused = Reason::kNoEligiblePool;
  for (const ImplementationSpec& implementation : model.implementations) {
    const PoolId pool = implementation.pool;
    if (pool_weight_[pool.value] <= 0) continue;
    if ((spec_.pools[pool.value].role == PoolRole::kPrefill) != prefill) continue;
    const Reason reason = refusal(implementation, prompt, output);
    if (reason == Reason::kNone && has_room(pool)) {
      open_.push_back(pool.value);
    } else if (refused != Reason::kQueueFull) {  // a full queue is the nearest miss, so it is the one told
      refused = reason == Reason::kNone ? Reason::kQueueFull : reason;
    }
  }
  if (open_.empty()) return refused;
  chosen = PoolId(policy.choose({pool_load_, pool_weight_, open_}));
  return Reason::kNone;
}

/// Whether the replicas of a pool could ever serve a request of this size.
Reason Router::refusal(const ImplementationSpec& implementation, std::int64_t prompt, std::int64_t output) const {
  if (prompt + output > implementation.context_limit) return Reason::kContextLimit;
  return poolcast::refusal(spec_.pools[implementation.pool.value].engine, prompt, output);
}

bool Router::has_room(PoolId pool) const {
  if (spec_.pools[pool.value].max_pending_requests == INT64_MAX) return true;
  const PoolSide& side = pools_[pool.value];
  const auto first = replicas_.begin() + side.first_replica;
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(side.load.size()),
                     [](const std::unique_ptr<Replica>& r) { return !r->full(); });
}

ReplicaId Router::choose_replica(PoolId pool) {
  PoolSide& side = pools_[pool.value];
  std::span<const std::uint32_t> open = side.everyone;
  if (spec_.pools[pool.value].max_pending_requests != INT64_MAX) {
    open_.clear();
    for (const std::uint32_t r : side.everyone) {
      if (!replicas_[side.first_replica + r]->full()) open_.push_back(r);
    }
    open = open_;
  }
  return ReplicaId(side.first_replica + side.policy->choose({side.load, side.weight, open}));
}

void Router::change_load(PoolId pool, ReplicaId replica, std::int64_t by) {
  PoolSide& side = pools_[pool.value];
  side.load[replica.value - side.first_replica] += by;
  pool_load_[pool.value] += by;
}

}  // namespace poolcast
