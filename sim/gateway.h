// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/decision_log.h"
#include "sim/gates.h"
#include "sim/policies/policy.h"
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

/// The upper level of routing: chooses a pool among those that may serve the request.
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
  const Gates& gates() const { return gates_; }

  /// Writes down every gate for every implementation of the model, and the pool chosen (not valid: none).
  void log_choice(const RequestRecord& request, PoolId chosen, SimTime now, DecisionLog& log) const;

  void change_load(PoolId pool, std::int64_t by) { load_[pool.value] += by; }

 private:
  Choice choose(const RequestRecord& request, std::int64_t output, bool prefill, Policy& policy);
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
};

}  // namespace poolcast
