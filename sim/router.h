// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/policies/policy.h"
#include "sim/replica.h"
#include "sim/spec.h"

namespace poolcast {

/// The two levels of routing: the gateway chooses a pool among those that may serve the request, the pool's policy
/// chooses a replica. Keeps the loads that the policies look at.
class Router {
 public:
  /// `replicas` are in order of their pools; it and `spec` outlive the router.
  Router(const SimulationSpec& spec, const std::vector<std::unique_ptr<Replica>>& replicas);

  struct Choice {
    PoolId pool;
    ReplicaId replica;
    PoolId prefill_pool;  ///< where its prompt is computed, if not there
    ReplicaId prefill_replica;
    Reason refused = Reason::kNone;  ///< why there is none
  };
  /// `prompt` + `output` tokens of a request for `model`.
  Choice route(ModelId model, std::int64_t prompt, std::int64_t output);

  void added(PoolId pool, ReplicaId replica) { change_load(pool, replica, +1); }
  void removed(PoolId pool, ReplicaId replica) { change_load(pool, replica, -1); }

 private:
  struct PoolSide {
    std::uint32_t first_replica = 0;
    std::unique_ptr<Policy> policy;
    std::vector<std::int64_t> load;  ///< by replica within the pool
    std::vector<double> weight;
    std::vector<std::uint32_t> everyone;
  };

  Reason choose_pool(const ModelSpec& model, bool prefill, Policy& policy, std::int64_t prompt, std::int64_t output,
                     PoolId& chosen);
  Reason refusal(const ImplementationSpec& implementation, std::int64_t prompt, std::int64_t output) const;
  bool has_room(PoolId pool) const;
  void change_load(PoolId pool, ReplicaId replica, std::int64_t by);
  ReplicaId choose_replica(PoolId pool);

  const SimulationSpec& spec_;
  const std::vector<std::unique_ptr<Replica>>& replicas_;
  std::vector<std::unique_ptr<Policy>> gateway_;          ///< by ModelId, so that models do not share a turn
  std::vector<std::unique_ptr<Policy>> prefill_gateway_;  ///< by ModelId: chooses among pools that only prefill
  std::vector<std::int64_t> pool_load_;
  std::vector<double> pool_weight_;
  std::vector<PoolSide> pools_;
  std::vector<std::uint32_t> open_;  ///< scratch
};

}  // namespace poolcast
