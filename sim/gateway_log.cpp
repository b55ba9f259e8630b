// SPDX-License-Identifier: Apache-2.0
// What Gateway writes down for `explain`: every gate for every implementation of the model, whatever the policy chose.
#include "sim/gateway.h"

namespace poolcast {

void Gateway::log_choice(const RequestRecord& request, PoolId chosen, SimTime now, DecisionLog& log) const {
  DecisionLog::PolicyChoice choice{now, PoolId(), spec_.routing.gateway.name, {}, chosen.value};
  for (const ImplementationSpec& implementation : spec_.models[request.model.value].implementations) {
    const PoolId pool = implementation.pool;
    DecisionLog::PolicyChoice::Candidate c;
    c.index = pool.value;
    c.load = load_[pool.value];
    c.weight = weight_[pool.value];
    c.waiting = signals_.waiting(pool.value);
    c.running = signals_.running(pool.value);
    c.kv_usage = signals_.kv_usage(pool.value);
    const GateVerdicts verdicts = gates_.judge_all(request, pool, health_.has_room(pool));
    c.gates.assign(verdicts.reasons.begin(), verdicts.reasons.end());
    c.refused = verdicts.first();
    choice.candidates.push_back(c);
  }
  log.gateway.push_back(std::move(choice));
}

}  // namespace poolcast
