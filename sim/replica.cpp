// SPDX-License-Identifier: Apache-2.0
#include "sim/replica.h"

#include <cstdlib>

#include "sim/batch_replica.h"
#include "sim/step_replica.h"

namespace poolcast {

void Replica::loaded(RequestId, SimTime, EventQueue&) { std::abort(); }

void Replica::release_handed(RequestId, SimTime, EventQueue&) { std::abort(); }

std::unique_ptr<Replica> make_replica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, bool stepwise,
                                      RequestTable& table, const std::vector<Histogram*>& gaps, std::uint64_t seed) {
  if (const auto* triton = std::get_if<TritonArgs>(&pool.engine)) {
    return std::make_unique<BatchReplica>(slot, pool_id, pool, *triton, table);
  }
  if (const auto* sessions = std::get_if<SessionArgs>(&pool.engine)) {
    return std::make_unique<BatchReplica>(slot, pool_id, pool, *sessions, table);
  }
  return std::make_unique<StepReplica>(slot, pool_id, pool, stepwise, table, gaps, seed);
}

}  // namespace poolcast
