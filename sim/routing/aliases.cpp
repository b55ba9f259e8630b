// SPDX-License-Identifier: Apache-2.0
// Sources: smg (lightseekorg/smg 73da68ca), AIBrix (e3e10f9e), BLIS (inference-sim), llm-d-router
// (ebab68792), all of 2026-08. The lowest load is the highest 1 / (1 + load); ties are random, as everywhere here.
#include "sim/routing/aliases.h"

namespace poolcast::routing {
namespace {

PipelineSpec completed(PipelineSpec spec) {
  complete_pipeline(spec);
  return spec;
}

PipelineSpec one_plugin(const char* type) {
  PipelineSpec spec;
  spec.plugins.push_back({type, type, {}});
  return completed(spec);
}

PipelineSpec scored_by(const char* expression) {
  Value text, parameters;
  text.kind = Value::Kind::kText;
  text.text = expression;
  parameters.kind = Value::Kind::kMap;
  parameters.keys = {"expression"};
  parameters.items = {text};
  PipelineSpec spec;
  spec.plugins.push_back({"expr-scorer", "expr-scorer", parameters});
  return completed(spec);
}

PipelineSpec always_busiest() { return scored_by("endpoint.in_flight_requests / (1 + pool.max_in_flight_requests)"); }

PipelineSpec cache_aware_cli() {
  return scored_by(
      "pool.max_in_flight_requests - pool.min_in_flight_requests > 64 && pool.max_in_flight_requests > 1.5 * "
      "pool.min_in_flight_requests || pool.max_prefix_share <= 0.3 ? 1 / (1 + endpoint.in_flight_requests) : "
      "endpoint.prefix_share");
}

PipelineSpec cache_aware_struct() {
  return scored_by(
      "pool.max_in_flight_requests - pool.min_in_flight_requests > 32 && pool.max_in_flight_requests > 1.1 * "
      "pool.min_in_flight_requests || pool.max_prefix_share <= 0.5 ? 1 / (1 + endpoint.in_flight_requests) : "
      "endpoint.prefix_share");
}

PipelineSpec least_kv_cache() { return one_plugin("kv-cache-utilization-scorer"); }

PipelineSpec least_load() {
  return scored_by(
      "1 / (1 + (endpoint.waiting * 1024 + endpoint.in_flight_tokens) / 2000 + 0.15 * endpoint.kv_usage / (1 - "
      "endpoint.kv_usage))");
}

PipelineSpec llmd() { return completed({}); }

}  // namespace

const std::vector<PolicyAlias>& policy_aliases() {
  static const std::vector<PolicyAlias> table = {
      {"always-busiest", "BLIS", "the most requests in flight: a bad example to compare with", always_busiest},
      {"cache-aware@smg-cli", "smg",
       "the fewest requests in flight when they differ by more than 64 and a factor of 1.5, or when no replica holds "
       "more than 0.3 of the prompt; else the one that holds most (blocks of the prefix index for smg's tree of text)",
       cache_aware_cli},
      {"cache-aware@smg-struct", "smg", "the same with 32, 1.1 and 0.5, the defaults of smg's library",
       cache_aware_struct},
      {"least-gpu-cache", "AIBrix", "the least use of the KV cache", least_kv_cache},
      {"least-kv-cache", "AIBrix", "the least use of the KV cache", least_kv_cache},
      {"least-load", "smg",
       "the least (1024 waiting requests + tokens in flight) / 2000 + 0.15 k / (1 - k), k the use of the KV cache "
       "(read at the instant, not every 10 s)",
       least_load},
      {"llm-d", "llm-d", "queue-scorer 2, kv-cache-utilization-scorer 2, prefix-cache-scorer 3, max-score-picker",
       llmd},
  };
  return table;
}

}  // namespace poolcast::routing
