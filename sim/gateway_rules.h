// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/ids.h"
#include "sim/reason_set.h"
#include "sim/time.h"

/// What a gateway does besides its policy: which pools the policy may choose from, and where a request goes that they
/// do not take. `Gateway` carries it out; nothing stated costs nothing.
namespace poolcast {

/// A pool with too many failures in the last `window` rests: it is sent nothing for `rest`. LiteLLM's rule; its breaker
/// is smg's.
struct CooldownSpec {
  std::uint64_t allowed_fails = 3;  ///< more failures than this in the window, or …
  /// … more than this share of what ended in the window (of `min_requests` at least). Above 1: never.
  double failure_share = 0.5;
  std::uint64_t min_requests = 5;
  SimTime window = 60 * kNanosPerSecond;
  SimTime rest = 5 * kNanosPerSecond;
  /// A breaker: after its rest a pool is on trial; one failure makes it rest again, and this many requests in a row
  /// that complete end the trial. 0: no trial.
  std::uint64_t trial = 0;
  ReasonSet failures = {Reason::kQueueFull,     Reason::kQueueTimeout, Reason::kSaturated, Reason::kStalled,
                        Reason::kFlowQueueFull, Reason::kFlowExpired,  Reason::kTimeout};

  bool operator==(const CooldownSpec&) const = default;
};

/// A limit on what passes in each interval of the clock, [0, per), [per, 2 per), … A request is beyond it when the
/// limit is used up as it comes. Tokens are charged when a request ends, prompt plus output, to the interval of that
/// instant: a gateway knows no output before.
struct QuotaSpec {
  enum class Beyond : std::uint8_t {
    kReject,
    kNextTier,  ///< pools of the first priority are closed to it
    kFallback,  ///< it is treated as if no pool of its model took it
  };
  ModelId model;  ///< not valid: every model
  ClassId cls;    ///< not valid: every class
  bool counts_tokens = false;
  std::int64_t limit = 0;  ///< requests or tokens
  SimTime per = 60 * kNanosPerSecond;
  bool shadow = false;  ///< only counts
  Beyond beyond = Beyond::kReject;

  bool operator==(const QuotaSpec&) const = default;
};

/// A share of the requests that go to a pool is copied to another pool of the same model.
struct MirrorSpec {
  PoolId from, to;
  double share = 1;
  bool cost_counts = false;  ///< whether what the copies cost is in the cost of the service

  bool operator==(const MirrorSpec&) const = default;
};

/// Prompts of `min` to `max` tokens, both included, go to these pools.
struct LengthTier {
  std::int64_t min = 0, max = INT64_MAX;
  std::vector<PoolId> pools;

  bool operator==(const LengthTier&) const = default;
};

struct GatewayRules {
  std::vector<std::int32_t> priority;    ///< by PoolId, the lowest number first; empty: alike
  std::vector<double> price;             ///< by PoolId: only the cheapest are chosen from; empty: no such rule
  bool sticky = false;                   ///< sessions stay where weights and a hash put them
  std::vector<LengthTier> length_tiers;  ///< the first that fits and has pools of the model
  /// By PoolId, by ModelId, by ModelId: where a request goes next, in order. Without circles. Empty: none.
  std::vector<std::vector<PoolId>> pool_fallbacks;
  std::vector<std::vector<ModelId>> model_fallbacks, context_fallbacks;
  std::vector<std::optional<CooldownSpec>> cooldowns;  ///< by PoolId; empty: none
  std::vector<QuotaSpec> quotas;
  std::vector<MirrorSpec> mirrors;

  bool operator==(const GatewayRules&) const = default;
  bool any() const {
    return !priority.empty() || !price.empty() || sticky || !length_tiers.empty() || has_fallbacks() ||
           !cooldowns.empty() || !quotas.empty();
  }
  bool has_fallbacks() const {
    return !pool_fallbacks.empty() || !model_fallbacks.empty() || !context_fallbacks.empty();
  }
};

}  // namespace poolcast
