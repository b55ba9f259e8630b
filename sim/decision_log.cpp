// SPDX-License-Identifier: Apache-2.0
#include "sim/decision_log.h"

namespace poolcast {

DecisionLog::PolicyChoice DecisionLog::policy_choice(SimTime at, PoolId pool, const std::string& policy,
                                                     const Candidates& candidates, std::uint32_t chosen) {
  PolicyChoice choice{at, pool, policy, {}, chosen, UINT32_MAX, ModelId(), false};
  for (const std::uint32_t i : candidates.open) {
    PolicyChoice::Candidate c;
    c.index = i;
    c.load = candidates.load[i];
    c.weight = candidates.weight[i];
    if (candidates.signals != nullptr) {
      c.waiting = candidates.signals->waiting(i);
      c.running = candidates.signals->running(i);
      c.kv_usage = candidates.signals->kv_usage(i);
    }
    choice.candidates.push_back(c);
  }
  return choice;
}

const char* name(DecisionLog::KeptOut rule) {
  constexpr const char* kNames[] = {"no",           "compatibility", "weight",   "quota",
                                    "length_tiers", "cooldown",      "priority", "price"};
  return kNames[static_cast<int>(rule)];
}

const char* name(DecisionLog::Turn::Why why) {
  constexpr const char* kNames[] = {"policy", "session", "compatibility", "quota",
                                    "move",   "refusal", "fallback",      "mirror"};
  return kNames[static_cast<int>(why)];
}

}  // namespace poolcast
