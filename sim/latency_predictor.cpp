// SPDX-License-Identifier: Apache-2.0
#include "sim/latency_predictor.h"

#include <algorithm>
#include <span>

#include "sim/schedulers/registry.h"

namespace poolcast {

LatencyPredictor::LatencyPredictor(const SimulationSpec& spec, const PoolSpec& pool, std::int64_t blocks)
    : curve_(*pool.curve),
      ranks_(pool.ranks),
      kv_tokens_(blocks * std::max<std::int64_t>(1, block_size(pool.engine)) / pool.ranks),
      budget_(token_budget(pool.engine)) {
  for (const ClassSpec& cls : spec.classes) objectives_.push_back(objectives_of(cls));
}

LatencyPredictor::Objectives LatencyPredictor::objectives_of(const ClassSpec& cls) {
  Objectives all;
  for (const Objective& objective : cls.objectives) {
    const double limit_ms = static_cast<double>(objective.limit) / 1e6;
    const auto tighten = [&](bool& any, double& strictest) {
      strictest = any ? std::min(strictest, limit_ms) : limit_ms;
      any = true;
    };
    if (objective.metric == Metric::kTtft) tighten(all.any_ttft, all.ttft_ms);
    if (objective.metric == Metric::kTpot || objective.metric == Metric::kItl) tighten(all.any_tpot, all.tpot_ms);
  }
  return all;
}

/// Of `tokens` of prompts, in as many steps as it takes.
double LatencyPredictor::prefill_s(Tokens tokens, std::int64_t running, Tokens context) const {
  const auto step_s = [&](Tokens query) {
    const PrefillChunk chunk{query, 0};
    return curve_.step({query + running, running + 1, running, context, std::span(&chunk, 1)}).value;
  };
  const Tokens full = tokens / budget_, rest = tokens % budget_;
  return (full > 0 ? static_cast<double>(full) * step_s(budget_) : 0) + (rest > 0 ? step_s(rest) : 0);
}

void LatencyPredictor::predict(ClassId cls, std::int64_t prompt_tokens, routing::Endpoints& endpoints) const {
  const Objectives& wanted = objectives_[cls.value];
  const bool none = !wanted.any_ttft && !wanted.any_tpot;
  const auto headroom = [&](bool any, double objective, double predicted) {
    return any || none ? objective - predicted : 0;
  };
  for (std::size_t e = 0; e < endpoints.size(); ++e) {
    const std::int64_t requests = std::max<std::int64_t>(1, endpoints.in_flight_requests[e]);
    const std::int64_t running = endpoints.running[e] / ranks_;
    const Tokens ahead = endpoints.waiting[e] * (endpoints.in_flight_tokens[e] / requests) / ranks_;
    const Tokens own = std::max<Tokens>(1, endpoints.uncached_tokens[e]);
    const auto context =
        std::max(running, static_cast<Tokens>(endpoints.kv_usage[e] * static_cast<double>(kv_tokens_)));
    routing::LatencyPrediction& p = endpoints.latency[e];
    p.known = true;
    p.dispatched_requests = endpoints.in_flight_requests[e];
    p.ttft_ms = 1e3 * prefill_s(ahead + own, running, running > 0 ? context : 0);
    p.tpot_ms = 1e3 * curve_.decode_line(running + 1, context + prompt_tokens + 1).at(context + prompt_tokens + 1);
    p.ttft_headroom_ms = headroom(wanted.any_ttft, wanted.ttft_ms, p.ttft_ms);
    p.tpot_headroom_ms = headroom(wanted.any_tpot, wanted.tpot_ms, p.tpot_ms);
  }
}

}  // namespace poolcast
