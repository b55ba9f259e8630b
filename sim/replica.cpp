// SPDX-License-Identifier: Apache-2.0
#include "sim/replica.h"

#include "sim/step_replica.h"

namespace poolcast {

std::unique_ptr<Replica> make_replica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, bool stepwise,
                                      RequestTable& table, const std::vector<Histogram*>& gaps) {
  return std::make_unique<StepReplica>(slot, pool_id, pool, stepwise, table, gaps);
}

}  // namespace poolcast
