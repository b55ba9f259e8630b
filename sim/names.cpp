// SPDX-License-Identifier: Apache-2.0
#include "sim/request.h"
#include "sim/spec.h"

namespace poolcast {

const char* name(Outcome outcome) {
  static constexpr const char* kNames[kOutcomes] = {"completed", "rejected", "failed", "timed_out", "cancelled"};
  return kNames[static_cast<std::size_t>(outcome)];
}

const char* name(Reason reason) {
  static constexpr const char* kNames[kReasons] = {"none",
                                                   "context_limit",
                                                   "kv_capacity",
                                                   "token_budget",
                                                   "queue_full",
                                                   "no_eligible_pool",
                                                   "timeout",
                                                   "patience",
                                                   "stalled",
                                                   "queue_timeout",
                                                   "saturated",
                                                   "flow_queue_full",
                                                   "flow_expired",
                                                   "other_model",
                                                   "data_handling",
                                                   "no_streaming",
                                                   "no_cancellation",
                                                   "experimental",
                                                   "batch_only",
                                                   "canary",
                                                   "retired",
                                                   "input_limit",
                                                   "output_limit",
                                                   "no_compiled_shape",
                                                   "evaluation_missing",
                                                   "evaluation_without_samples",
                                                   "below_threshold",
                                                   "not_confident",
                                                   "replicas_stalled",
                                                   "price_unknown",
                                                   "cost_above_limit",
                                                   "cost_above_incumbent",
                                                   "cooling_down",
                                                   "quota"};
  return kNames[static_cast<std::size_t>(reason)];
}

const char* name(ImplementationStatus status) {
  constexpr const char* kNames[] = {"experimental", "batch-only", "canary", "production", "retired"};
  return kNames[static_cast<int>(status)];
}

const char* name(Metric metric) {
  static constexpr const char* kNames[kMetrics] = {"ttft",  "tpot",           "itl",          "e2e", "queue_delay",
                                                   "ntpot", "ttft_from_sent", "e2e_from_sent"};
  return kNames[static_cast<std::size_t>(metric)];
}

}  // namespace poolcast
