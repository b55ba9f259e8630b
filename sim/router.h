// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine_signals.h"
#include "sim/gateway.h"
#include "sim/moves.h"
#include "sim/policies/policy.h"
#include "sim/pool_router.h"
#include "sim/replica.h"
#include "sim/spec.h"

namespace poolcast {

/// The levels of routing: the gateway chooses a pool among those that may serve the request, a move may send it on, and
/// the pool's router chooses a replica. Keeps the loads that the policies look at.
class Router : private PoolHealth {
 public:
  /// `replicas` are in order of their pools; all three outlive the router.
  Router(const SimulationSpec& spec, const std::vector<std::unique_ptr<Replica>>& replicas, const Moves& moves);

  struct Choice {
    PoolId pool;
    ReplicaId replica;
    PoolId prefill_pool;  ///< where its prompt is computed, if not there
    ReplicaId prefill_replica;
    Reason refused = Reason::kNone;  ///< why there is none
    Moves::Turn turn;                ///< what a move made of it
  };
  /// Chooses a pool for a request that arrives now.
  Choice choose_pool(const RequestRecord& request, SimTime now);
  /// And, at once or later, a replica there, and one that computes its prompt where that is done elsewhere.
  void choose_replica(const RequestRecord& request, const Content& content, SimTime now, Choice& choice);
  /// Both where the gateway has rules; a replica on a pool with flow control later. `model` is the one that serves: its
  /// own, or one that takes longer prompts. `failed` is a pool on which the request has just failed, so that only
  /// fallbacks are left; else not valid.
  Choice route_by_rules(const RequestRecord& request, const Content& content, ModelId model, PoolId failed,
                        SimTime now);
  /// For a copy of a request, to this pool.
  Choice route_copy(const RequestRecord& request, const Content& content, PoolId pool, SimTime now);

  Gateway& gateway() { return gateway_; }
  const Gateway& gateway() const { return gateway_; }

  /// The request, or the leg that computes its prompt, goes to a replica; after the choice.
  void added(PoolId pool, ReplicaId replica, RequestId id);
  void removed(PoolId pool, ReplicaId replica, RequestId id);
  /// A request has ended on its replica, where it brought `output` tokens.
  void answered(const RequestRecord& request, std::int64_t output, SimTime now);
  /// What went wrong in the scripts of endpoint pickers, a sentence each.
  void tell_faults(std::vector<std::string>& notes) const;
  /// A replica has stopped for good.
  void stopped(ReplicaId replica) {
    stopped_[replica.value] = true;
    any_stopped_ = spec_.gated;
  }
  const Gates& gates() const { return gateway_.gates(); }
  /// One request more or less waits at the gateway for the pool.
  void held(PoolId pool, std::int64_t by) { gateway_.change_load(pool, by); }

  /// A replica is about to change at `now`; what was asked of it up to `settled` was asked before.
  void before_change(PoolId pool, ReplicaId replica, SimTime settled, SimTime now) {
    pools_[pool.value]->before_change(replica, settled, now);
  }
  /// Whether a request may go to this pool, which has flow control, at `now`.
  bool lets_go(PoolId pool, SimTime now);
  /// When something new of the pool is known next, and whether some of it is known at once.
  SimTime next_arrival(PoolId pool) const;
  bool any_instant(PoolId pool) const;

 private:
  /// The metrics of pools, as they are known.
  class PoolSignals : public Signals {
   public:
    PoolSignals(const Router& router, std::vector<std::uint32_t> borders)
        : router_(router), truth_(router.engines_, router.now_, std::move(borders)) {}
    std::int64_t waiting(std::uint32_t index) const override;
    std::int64_t running(std::uint32_t index) const override;
    double kv_usage(std::uint32_t index) const override;

   private:
    const Router& router_;
    EngineSignals truth_;
  };

  /// Null: nobody wants to know about this request.
  DecisionLog* log_of(const RequestRecord& request) const;
  void log_choice(const RequestRecord& request, const Gateway::Filter& filter, const Gateway::Choice& choice) const;
  void log_turn(const RequestRecord& request, DecisionLog::Turn::Why why, ModelId model, PoolId pool,
                Reason refused) const;

  void log_copy(const RequestRecord& request, const Choice& choice) const;

  bool choose_prefill(const RequestRecord& request, const Content& content, Choice& choice);
  struct Asked {
    const RequestRecord& request;
    const Content& content;
  };
  void look(SimTime now);
  bool has_flow(PoolId pool) const;
  Choice find_way(const Asked& asked, ModelId model, PoolId failed);
  bool try_model(const Asked& asked, ModelId model, bool first_tier_closed, Choice& choice);
  bool try_fallbacks(const Asked& asked, PoolId after, Choice& choice);
  bool try_pool(const Asked& asked, PoolId pool, Choice& choice);
  void follow_move(const RequestRecord& request, Choice& choice);
  bool has_room(PoolId pool) const override;
  bool stopped(PoolId pool) const override;

  const SimulationSpec& spec_;
  const std::vector<std::unique_ptr<Replica>>& engines_;
  const Moves& moves_;
  std::vector<std::unique_ptr<PoolRouter>> pools_;
  PoolSignals pool_signals_;
  Gateway gateway_;
  std::vector<bool> stopped_;  ///< by ReplicaId
  bool any_stopped_ = false;   ///< and the scenario states gates
  bool seen_ = false;          ///< some pool's metrics are not known at once
  SimTime now_ = 0;
};

}  // namespace poolcast
