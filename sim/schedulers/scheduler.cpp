// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/scheduler.h"

#include <cstdlib>

namespace poolcast {

void StepPlan::clear() {
  tokens = requests = decode_requests = decode_context = sampled = recomputed = wasted = 0;
  again = false;
  padding = {};
  padded_prefill.clear();
  stall = Seconds(0);
  compiled = 0;
  prefill.clear();
  prefill_ids.clear();
  admitted.clear();
  starved.clear();
  preempted.clear();
  loads.clear();
}

void Scheduler::loaded(RequestId) { std::abort(); }

void Scheduler::release_handed(RequestId) { std::abort(); }

}  // namespace poolcast
