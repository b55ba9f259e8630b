// SPDX-License-Identifier: Apache-2.0
#include "sim/cooldowns.h"

#include <algorithm>

namespace poolcast {

Cooldowns::Cooldowns(const GatewayRules& rules) {
  for (const auto& spec : rules.cooldowns) {
    CooldownSpec never;
    never.failures = {};
    pools_.emplace_back(spec.value_or(never));
  }
}

void Cooldowns::ended(PoolId id, Reason reason, SimTime now) {
  if (id.value >= pools_.size()) return;
  Pool& pool = pools_[id.value];
  const bool failed = pool.spec.failures.has(reason);
  pool.report.failures += failed;
  if (pool.spec.failures == ReasonSet()) return;
  if (now < pool.until) return;  // sent before its rest began: that rest is for them
  if (pool.spec.failure_share <= 1) pool.requests.add(now);
  if (failed) {
    pool.failures.add(now);
    if (pool.on_trial > 0 || too_many(pool, now)) begin(pool, now);
  } else if (pool.on_trial > 0 && reason == Reason::kNone) {
    --pool.on_trial;
  }
}

bool Cooldowns::too_many(Pool& pool, SimTime now) const {
  const std::uint64_t failures = pool.failures.at(now), requests = pool.requests.at(now);
  if (failures > pool.spec.allowed_fails) return true;
  return requests >= pool.spec.min_requests &&
         static_cast<double>(failures) > pool.spec.failure_share * static_cast<double>(requests);
}

void Cooldowns::begin(Pool& pool, SimTime now) const {
  pool.until = later(now, pool.spec.rest);
  pool.on_trial = pool.spec.trial;
  pool.failures.clear();
  pool.requests.clear();
  ++pool.report.begun;
  pool.report.rested += pool.spec.rest;
}

std::vector<CooldownReport> Cooldowns::report(SimTime end) const {
  std::vector<CooldownReport> reports;
  for (const Pool& pool : pools_) {
    reports.push_back(pool.report);
    reports.back().rested -= std::max<SimTime>(0, pool.until - end);
  }
  return reports;
}

}  // namespace poolcast
