// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/cooldowns.h"
#include "sim/decision_log.h"
#include "sim/gates.h"
#include "sim/gateway_report.h"
#include "sim/policies/policy.h"
#include "sim/quotas.h"
#include "sim/request.h"
#include "sim/spec.h"

namespace poolcast {

/// What the gateway asks of pools.
class PoolHealth {
 public:
  virtual ~PoolHealth() = default;
  /// Whether one of its replicas takes one more request.
  virtual bool has_room(PoolId pool) const = 0;
  /// Whether all its replicas have stopped for good.
  virtual bool stopped(PoolId pool) const {
    (void)pool;
    return false;
  }
};

/// The upper level of routing: chooses a pool among those that may serve the request, within the rules that are stated
/// (GatewayRules).
class Gateway {
 public:
  /// All outlive this; `signals` are those of the pools.
  Gateway(const SimulationSpec& spec, const Signals& signals, const PoolHealth& health);

  struct Choice {
    PoolId pool;
    Reason refused = Reason::kNone;  ///< why there is none
  };
  /// A pool that serves the request: one that decodes where prefill and decode are apart. What no implementation may
  /// serve, however empty its queue, goes to the compatibility pool of its model.
  Choice choose(const RequestRecord& request);
  /// A pool that only prefills.
  Choice choose_prefill(const RequestRecord& request);
  /// The pool, if that is where it goes, can take the request; else why not.
  Reason refusal(const RequestRecord& request, PoolId pool) const { return gates_.refusal(request, pool, Via::kMove); }
  /// The same of a request that comes as a fallback or as a copy.
  Reason refusal(const RequestRecord& request, PoolId pool, Via via) const {
    return gates_.refusal(request, pool, via);
  }
  const Gates& gates() const { return gates_; }

  /// What a choice is asked for.
  struct Filter {
    ModelId model;
    Via via = Via::kGateway;
    bool prefill = false;
    bool ruled = false;
    bool first_tier_closed = false;
    SimTime now = 0;
  };
  /// Writes down every gate and rule for every implementation of the model, and the pool that was chosen (not valid:
  /// none). Right after the choice.
  void log_choice(const RequestRecord& request, const Filter& filter, PoolId chosen, DecisionLog& log) const;
  /// How this pool came to be the choice of a request.
  DecisionLog::Turn::Why why(const RequestRecord& request, PoolId chosen) const;

  void change_load(PoolId pool, std::int64_t by) { load_[pool.value] += by; }

  // Rules. Without any, only what stands above is needed.
  bool has_rules() const { return has_rules_; }
  /// A pool of this model, as the rules have it at this instant. One with fallbacks of its own is chosen whether or not
  /// it has room: those tell what comes then.
  Choice choose(const RequestRecord& request, ModelId model, bool first_tier_closed, SimTime now);
  Filter ruled_filter(const RequestRecord& request, ModelId model, bool first_tier_closed, SimTime now) const;
  /// Whether a pool that may serve a request takes one now: it has room and does not rest.
  Reason closed(PoolId pool, SimTime now) const;
  Quotas::Verdict arrived(const RequestRecord& request, SimTime now) { return quotas_.arrived(request, now); }
  /// A try has ended on a pool, or was refused by it.
  void ended(PoolId pool, Reason reason, SimTime now) { cooldowns_.ended(pool, reason, now); }
  void charge(const RequestRecord& request, SimTime now) { quotas_.ended(request, now); }

  /// Where a request goes next, in the order in which they are tried: the list of each entry follows it.
  const std::vector<PoolId>& pools_after(PoolId pool) const { return pools_after_[pool.value]; }
  const std::vector<ModelId>& models_after(ModelId model) const { return models_after_[model.value]; }
  const std::vector<ModelId>& longer_models(ModelId model) const { return longer_models_[model.value]; }
  ModelId model_of(PoolId pool) const { return model_of_[pool.value]; }
  void fell_back(FallbackReport::Kind kind, std::uint32_t from, PoolId to);

  GatewayReport report(SimTime end) const;

 private:
  Choice choose(const RequestRecord& request, std::int64_t output, const Filter& filter, Policy& policy);
  DecisionLog::KeptOut kept_out(const RequestRecord& request, PoolId pool, const Filter& filter) const;
  void prepare_rules();
  bool in_reach(const RequestRecord& request, PoolId pool, const Filter& filter) const;
  void keep_first_tier();
  void keep_cheapest();
  std::uint32_t stay(const RequestRecord& request) const;
  Reason capacity(PoolId pool) const;
  Choice fall_back(const RequestRecord& request, Reason refused);

  const SimulationSpec& spec_;
  const Signals& signals_;
  const PoolHealth& health_;
  Gates gates_;
  std::vector<std::unique_ptr<Policy>> policies_;          ///< by ModelId, so that models do not share a turn
  std::vector<std::unique_ptr<Policy>> prefill_policies_;  ///< by ModelId
  std::vector<std::int64_t> load_;                         ///< by PoolId: requests running and waiting
  std::vector<double> weight_;                             ///< by PoolId
  std::vector<std::uint32_t> open_;                        ///< scratch

  const GatewayRules& rules_;
  bool has_rules_ = false;
  Cooldowns cooldowns_;
  Quotas quotas_;
  std::vector<std::vector<PoolId>> pools_after_;
  std::vector<std::vector<ModelId>> models_after_, longer_models_;
  std::vector<ModelId> model_of_;            ///< by PoolId
  std::vector<std::int32_t> first_tier_;     ///< by ModelId: the lowest priority number among its pools
  std::vector<std::string> sticky_streams_;  ///< by PoolId
  std::vector<FallbackReport> fallbacks_;
};

}  // namespace poolcast
