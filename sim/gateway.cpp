// SPDX-License-Identifier: Apache-2.0
#include "sim/gateway.h"

#include "sim/policies/registry.h"

namespace poolcast {

Gateway::Gateway(const SimulationSpec& spec, const Signals& signals, const PoolHealth& health)
    : spec_(spec),
      signals_(signals),
      health_(health),
      gates_(spec),
      load_(spec.pools.size(), 0),
      rules_(spec.routing.rules),
      has_rules_(rules_.any()),
      cooldowns_(rules_),
      quotas_(rules_.quotas) {
  const PolicySpec& policy = spec.routing.gateway;
  for (const ModelSpec& model : spec.models) {
    policies_.push_back(make_policy(policy.name, spec.seed, "gateway/" + model.name));
    prefill_policies_.push_back(make_policy(policy.name, spec.seed, "gateway/prefill/" + model.name));
  }
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    weight_.push_back(policy.weights.empty() ? static_cast<double>(spec.pools[p].replicas) : policy.weights[p]);
  }
  for (const ModelSpec& model : spec.models) {
    if (model.compatibility.valid()) weight_[model.compatibility.value] = 0;
  }
  prepare_rules();
}

Gateway::Choice Gateway::choose(const RequestRecord& request) {
  return choose(request, request.output_target, {.model = request.model}, *policies_[request.model.value]);
}

Gateway::Choice Gateway::choose_prefill(const RequestRecord& request) {
  return choose(request, 1, {.model = request.model, .prefill = true}, *prefill_policies_[request.model.value]);
}

/// Chooses among the pools that may serve a request of this size: those that only prefill, or all others.
Gateway::Choice Gateway::choose(const RequestRecord& request, std::int64_t output, const Filter& filter,
                                Policy& policy) {
  open_.clear();
  Reason refused = Reason::kNoEligiblePool;
  for (const ImplementationSpec& implementation : spec_.models[filter.model.value].implementations) {
    const PoolId pool = implementation.pool;
    if (weight_[pool.value] <= 0) continue;
    if ((spec_.pools[pool.value].role == PoolRole::kPrefill) != filter.prefill) continue;
    if (filter.ruled && !in_reach(request, pool, filter)) continue;
    Reason reason = gates_.refusal(request, pool, output, filter.via);
    if (reason == Reason::kNone && (!filter.ruled || pools_after(pool).empty())) reason = closed(pool, filter.now);
    gates_.count(request.cls, pool, reason);
    if (reason == Reason::kNone) {
      open_.push_back(pool.value);
    } else {
      refused = nearer(refused, reason);
    }
  }
  if (open_.empty()) {
    const bool last = filter.prefill || filter.via == Via::kFallback;
    return last ? Choice{PoolId(), refused} : fall_back(request, refused);
  }
  if (filter.ruled) {
    keep_first_tier();
    keep_cheapest();
    if (rules_.sticky && request.session != UINT64_MAX) return {PoolId(stay(request)), Reason::kNone};
  }
  return {PoolId(policy.choose({load_, weight_, open_, &signals_})), Reason::kNone};
}

Reason Gateway::closed(PoolId pool, SimTime now) const {
  const Reason reason = capacity(pool);
  return reason == Reason::kNone && cooldowns_.rests(pool, now) ? Reason::kCoolingDown : reason;
}

Reason Gateway::capacity(PoolId pool) const {
  if (health_.has_room(pool)) return Reason::kNone;
  return health_.stopped(pool) ? Reason::kReplicasStalled : Reason::kQueueFull;
}

/// To the compatibility pool, unless a specialist could have served the request if it had been less busy.
Gateway::Choice Gateway::fall_back(const RequestRecord& request, Reason refused) {
  const PoolId last = gates_.compatibility(request.model);
  const bool may = last.valid() && gate_of(refused) != Gate::kCapacity &&
                   gates_.refusal(request, last, Via::kCompatibility) == Reason::kNone;
  const bool taken = may && health_.has_room(last);
  gates_.count_nobody(request.cls, taken);
  if (taken) return {last, Reason::kNone};
  return {PoolId(), may ? Reason::kQueueFull : refused};
}

}  // namespace poolcast
