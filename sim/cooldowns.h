// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/gateway_report.h"
#include "sim/gateway_rules.h"
#include "sim/recent_count.h"

namespace poolcast {

/// Which pools rest after failures (CooldownSpec).
class Cooldowns {
 public:
  explicit Cooldowns(const GatewayRules& rules);

  bool any() const { return !pools_.empty(); }
  bool rests(PoolId pool, SimTime now) const { return pool.value < pools_.size() && now < pools_[pool.value].until; }
  /// A request ended on a pool, or was refused by it.
  void ended(PoolId pool, Reason reason, SimTime now);

  std::vector<CooldownReport> report(SimTime end) const;

 private:
  struct Pool {
    explicit Pool(const CooldownSpec& s) : spec(s), requests(s.window), failures(s.window) {}
    CooldownSpec spec;
    RecentCount requests, failures;
    SimTime until = 0;           ///< it rests before this instant
    std::uint64_t on_trial = 0;  ///< requests that must complete before the trial ends
    CooldownReport report;
  };
  bool too_many(Pool& pool, SimTime now) const;
  void begin(Pool& pool, SimTime now) const;

  std::vector<Pool> pools_;  ///< by PoolId
};

}  // namespace poolcast
