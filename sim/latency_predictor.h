// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ids.h"
#include "sim/routing/endpoints.h"
#include "sim/spec.h"

namespace poolcast {

/// What TTFT and TPOT a request would have on each replica of a pool, by the pool's own curve and what its router knows
/// of the replicas. It stands for a predictor that has learnt the pool well; ours, not the model that llm-d trains.
///
///   prompts ahead   waiting * (in_flight_tokens / in_flight_requests), then the request's own uncached tokens
///   TTFT            their prefill in steps of the engine's token budget, each with the running requests decoding
///   TPOT            a step that decodes the running requests and this one
///
/// The running requests have the context that kv_usage stands for. Counts are shared evenly by data-parallel ranks.
/// Not seen are prompts that are half computed and memory that must be free first: where the KV cache is full, requests
/// wait longer than is predicted.
/// Headroom is the strictest objective of the request's class less the prediction. A class with one of the two
/// objectives counts as meeting the other, with no headroom; with none, an objective of 0 makes the quickest best.
class LatencyPredictor {
 public:
  /// `pool` has a curve; `blocks` of KV memory are usable on a replica. Both specs outlive this.
  LatencyPredictor(const SimulationSpec& spec, const PoolSpec& pool, std::int64_t blocks);

  /// Fills `endpoints.latency`; `uncached_tokens` are those of the request.
  void predict(ClassId cls, std::int64_t prompt_tokens, routing::Endpoints& endpoints) const;

 private:
  struct Objectives {
    double ttft_ms = 0, tpot_ms = 0;
    bool any_ttft = false, any_tpot = false;
  };
  static Objectives objectives_of(const ClassSpec& cls);
  double prefill_s(Tokens tokens, std::int64_t running, Tokens context) const;

  const StepCurve& curve_;
  std::int64_t ranks_;
  Tokens kv_tokens_;                    ///< of a rank
  Tokens budget_;                       ///< of a step
  std::vector<Objectives> objectives_;  ///< by ClassId
};

}  // namespace poolcast
