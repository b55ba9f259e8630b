// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/endpoint_picker.h"
#include "sim/gateway.h"
#include "sim/moves.h"
#include "sim/policies/policy.h"
#include "sim/replica.h"
#include "sim/spec.h"

namespace poolcast {

/// The levels of routing: the gateway chooses a pool among those that may serve the request, a move may send it on, the
/// pool's policy chooses a replica, and where that has data-parallel ranks its own balancer one of them. Keeps the
/// loads that the policies look at.
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
  /// Chooses for a request that arrives now.
  Choice route(const RequestRecord& request, const Content& content, SimTime now);

  /// The request, or the leg that computes its prompt, goes to a replica; after the choice.
  void added(PoolId pool, ReplicaId replica, RequestId id);
  void removed(PoolId pool, ReplicaId replica, RequestId id);
  /// What went wrong in the scripts of endpoint pickers, a sentence each.
  void tell_faults(std::vector<std::string>& notes) const;

 private:
  /// Of candidates that are ranges of engines: candidate i has those from borders[i] to before borders[i + 1].
  class EngineSignals : public Signals {
   public:
    EngineSignals(const Router& router, std::vector<std::uint32_t> borders)
        : router_(router), borders_(std::move(borders)) {}
    std::int64_t waiting(std::uint32_t index) const override;
    std::int64_t running(std::uint32_t index) const override;
    double kv_usage(std::uint32_t index) const override;

   private:
    const Router& router_;
    std::vector<std::uint32_t> borders_;
  };
  /// The ranks of a replica.
  struct Group {
    std::unique_ptr<Policy> policy;
    std::vector<std::int64_t> load;
    std::unique_ptr<EngineSignals> signals;
  };
  struct PoolSide {
    std::uint32_t first_replica = 0;
    std::uint32_t ranks = 1;
    std::vector<Group> groups;  ///< by replica; empty with one rank
    std::unique_ptr<EngineSignals> signals;
    std::unique_ptr<Policy> policy;
    std::unique_ptr<EndpointPicker> picker;  ///< decides instead of the policy, where the pool has one
    std::vector<std::int64_t> load;          ///< by replica within the pool
    std::vector<double> weight;
    std::vector<std::uint32_t> everyone;
  };

  void follow_move(const RequestRecord& request, Choice& choice);
  bool full(PoolId pool, std::uint32_t replica) const;
  bool has_room(PoolId pool) const override;
  PoolSide make_side(const PoolSpec& pool, const PolicySpec& policy, std::uint32_t first) const;
  Group make_group(const PoolSpec& pool, std::uint32_t replica, std::uint32_t first) const;
  std::uint32_t choose_rank(Group& group);
  void change_load(PoolId pool, ReplicaId engine, std::int64_t by);
  ReplicaId choose_replica(PoolId pool, const RequestRecord& request, const Content& content);

  const SimulationSpec& spec_;
  const std::vector<std::unique_ptr<Replica>>& replicas_;
  const Moves& moves_;
  std::vector<PoolSide> pools_;
  EngineSignals pool_signals_;
  Gateway gateway_;
  std::vector<double> even_;         ///< weights of ranks
  std::vector<std::uint32_t> all_;   ///< 0, 1, 2, …
  std::vector<std::uint32_t> open_;  ///< scratch
  SimTime now_ = 0;
};

}  // namespace poolcast
