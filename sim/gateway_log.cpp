// SPDX-License-Identifier: Apache-2.0
// What Gateway writes down for `explain`: every gate and rule for every implementation of the model, whatever the
// policy chose.
#include "sim/gateway.h"

#include <algorithm>

namespace poolcast {

void Gateway::log_choice(const RequestRecord& request, const Filter& filter, PoolId chosen, DecisionLog& log) const {
  DecisionLog::PolicyChoice choice{
      filter.now, PoolId(), spec_.routing.gateway.name, {}, chosen.value, UINT32_MAX, filter.model, filter.prefill};
  for (const ImplementationSpec& implementation : spec_.models[filter.model.value].implementations) {
    const PoolId pool = implementation.pool;
    if ((spec_.pools[pool.value].role == PoolRole::kPrefill) != filter.prefill) continue;
    DecisionLog::PolicyChoice::Candidate c;
    c.index = pool.value;
    c.load = load_[pool.value];
    c.weight = weight_[pool.value];
    c.waiting = signals_.waiting(pool.value);
    c.running = signals_.running(pool.value);
    c.kv_usage = signals_.kv_usage(pool.value);
    const bool last = pool == gates_.compatibility(filter.model);
    const Via via = last ? Via::kCompatibility : filter.via;
    const GateVerdicts verdicts = gates_.judge_all(request, pool, health_.has_room(pool), via);
    c.gates.assign(verdicts.reasons.begin(), verdicts.reasons.end());
    c.refused = verdicts.first();
    if (pool != chosen) c.kept_out = kept_out(request, pool, filter);
    choice.candidates.push_back(c);
  }
  log.gateway.push_back(std::move(choice));
}

DecisionLog::KeptOut Gateway::kept_out(const RequestRecord& request, PoolId pool, const Filter& filter) const {
  using KeptOut = DecisionLog::KeptOut;
  if (pool == gates_.compatibility(filter.model)) return KeptOut::kCompatibility;
  if (weight_[pool.value] <= 0) return KeptOut::kWeight;
  if (!filter.ruled) return KeptOut::kNo;
  if (filter.first_tier_closed && rules_.priority[pool.value] == first_tier_[filter.model.value])
    return KeptOut::kQuota;
  if (!in_reach(request, pool, filter)) return KeptOut::kLength;
  if (pools_after(pool).empty() && cooldowns_.rests(pool, filter.now)) return KeptOut::kCooldown;
  const bool open = std::find(open_.begin(), open_.end(), pool.value) != open_.end();
  if (open || open_.empty() || gates_.refusal(request, pool, filter.via) != Reason::kNone) return KeptOut::kNo;
  if (pools_after(pool).empty() && !health_.has_room(pool)) return KeptOut::kNo;
  const bool later = !rules_.priority.empty() && rules_.priority[pool.value] > rules_.priority[open_[0]];
  return later ? KeptOut::kPriority : KeptOut::kPrice;
}

DecisionLog::Turn::Why Gateway::why(const RequestRecord& request, PoolId chosen) const {
  using Why = DecisionLog::Turn::Why;
  if (chosen.valid() && chosen == gates_.compatibility(request.model)) return Why::kCompatibility;
  return chosen.valid() && rules_.sticky && request.session != UINT64_MAX ? Why::kSession : Why::kPolicy;
}

}  // namespace poolcast
