// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cell.h"
#include "sim/ids.h"
#include "sim/time.h"

/// What the rules of the gateway did over the whole run, warm-up included.
namespace poolcast {

/// Requests that did not go where they would have gone.
struct FallbackReport {
  enum class Kind : std::uint8_t { kPool, kModel, kContextWindow };
  Kind kind = Kind::kPool;
  std::uint32_t from = 0;  ///< a PoolId of kind kPool, else a ModelId
  PoolId to;
  std::uint64_t requests = 0;

  bool same_way(const FallbackReport& other) const {
    return kind == other.kind && from == other.from && to == other.to;
  }
};

/// Of one pool.
struct CooldownReport {
  std::uint64_t failures = 0;  ///< that count as such
  std::uint64_t begun = 0;
  SimTime rested = 0;  ///< sum over cooldowns, the last one cut at the end of the run
};

struct QuotaReport {
  std::uint64_t passed = 0;  ///< requests within the quota
  std::uint64_t beyond = 0;  ///< and beyond it; in shadow mode they went on
  std::int64_t tokens = 0;   ///< that were charged
};

/// Copies of requests: no user waits for them.
struct MirrorReport {
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;         ///< by limits or a full queue
  Cell cell;                         ///< of those that were routed; none of them is accepted
  std::int64_t measured_tokens = 0;  ///< prompts and outputs of those that completed and copy a measured request
};

/// Of one class. A try is one sending; one request may have several.
struct RetryReport {
  std::uint64_t attempts = 0;
  std::uint64_t retries = 0;     ///< of those, all but the first of each request
  std::uint64_t denied = 0;      ///< by the budget
  std::uint64_t exhausted = 0;   ///< sent as often as allowed, and failed again
  std::uint64_t too_late = 0;    ///< the user's patience would have ended first
  std::int64_t lost_tokens = 0;  ///< computed for tries that others followed
};

/// Lists are empty where the scenario has no such rule.
struct GatewayReport {
  std::vector<FallbackReport> fallbacks;  ///< by kind, from, to
  bool has_fallbacks = false;
  std::vector<CooldownReport> cooldowns;  ///< by PoolId
  std::vector<QuotaReport> quotas;        ///< by the order of GatewayRules::quotas, as are …
  std::vector<MirrorReport> mirrors;      ///< … these of GatewayRules::mirrors
  std::vector<RetryReport> retries;       ///< by ClassId
};

}  // namespace poolcast
