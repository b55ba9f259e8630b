// SPDX-License-Identifier: Apache-2.0
#include "sim/gateway.h"

#include "sim/gates.h"
#include "sim/policies/registry.h"

namespace poolcast {

Gateway::Gateway(const SimulationSpec& spec, const Signals& signals, const PoolHealth& health)
    : spec_(spec), signals_(signals), health_(health), load_(spec.pools.size(), 0) {
  const PolicySpec& policy = spec.routing.gateway;
  for (const ModelSpec& model : spec.models) {
    policies_.push_back(make_policy(policy.name, spec.seed, "gateway/" + model.name));
    prefill_policies_.push_back(make_policy(policy.name, spec.seed, "gateway/prefill/" + model.name));
  }
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    weight_.push_back(policy.weights.empty() ? static_cast<double>(spec.pools[p].replicas) : policy.weights[p]);
  }
}

Gateway::Choice Gateway::choose(const RequestRecord& request) {
  return choose(request, request.output_target, false, *policies_[request.model.value]);
}

Gateway::Choice Gateway::choose_prefill(const RequestRecord& request) {
  return choose(request, 1, true, *prefill_policies_[request.model.value]);
}

/// Chooses among the pools that may serve a request of this size: those that only prefill, or all others.
Gateway::Choice Gateway::choose(const RequestRecord& request, std::int64_t output, bool prefill, Policy& policy) {
  open_.clear();
  Reason refused = Reason::kNoEligiblePool;
  for (const ImplementationSpec& implementation : spec_.models[request.model.value].implementations) {
    const PoolId pool = implementation.pool;
    if (weight_[pool.value] <= 0) continue;
    if ((spec_.pools[pool.value].role == PoolRole::kPrefill) != prefill) continue;
    const Reason reason = poolcast::refusal(spec_, implementation, request.prompt_tokens, output);
    if (reason == Reason::kNone && health_.has_room(pool)) {
      open_.push_back(pool.value);
    } else if (refused != Reason::kQueueFull) {  // a full queue is the nearest miss, so it is the one told
      refused = reason == Reason::kNone ? Reason::kQueueFull : reason;
    }
  }
  if (open_.empty()) return {PoolId(), refused};
  return {PoolId(policy.choose({load_, weight_, open_, &signals_})), Reason::kNone};
}

Reason Gateway::refusal(const RequestRecord& request, PoolId pool) const {
  for (const ImplementationSpec& implementation : spec_.models[request.model.value].implementations) {
    if (implementation.pool != pool) continue;
    return poolcast::refusal(spec_, implementation, request.prompt_tokens, request.output_target);
  }
  return Reason::kNoEligiblePool;
}

}  // namespace poolcast
