// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Routing pipelines: filter, score, pick, with the plugin names, parameters, formulas and tie rules of llm-d's
/// endpoint picker. Endpoints and models are indices here; names are resolved before the first decision.
namespace poolcast::routing {

/// What the index of a prefix cache says of one endpoint and one request.
struct PrefixMatch {
  std::int64_t match_blocks = 0;
  std::int64_t total_blocks = 0;  ///< 0: nothing is known
  std::int64_t block_size_tokens = 0;
};

/// What a latency predictor says of one endpoint and one request, in milliseconds. Headroom is the objective less the
/// prediction: negative when the objective would be missed.
struct LatencyPrediction {
  bool known = false;
  double ttft_headroom_ms = 0;
  double tpot_headroom_ms = 0;
  double ttft_ms = 0;
  double tpot_ms = 0;
  std::int64_t dispatched_requests = 0;
};

/// Adapters (LoRA) of an endpoint, by model index.
struct Adapters {
  std::int64_t max_active = 0;
  std::vector<std::uint32_t> active;
  std::vector<std::uint32_t> waiting;
};

inline constexpr double kNeverScraped = std::numeric_limits<double>::infinity();

/// What a router sees of its endpoints at one instant: columns by endpoint index. A value that is absent is zero, as
/// the real plugins read it, except where a column says otherwise.
struct Endpoints {
  std::vector<std::int64_t> waiting;  ///< requests in the engine's queue
  std::vector<std::int64_t> running;
  std::vector<double> kv_usage;                  ///< share of the KV cache in use
  std::vector<double> busy;                      ///< share of the last while spent in steps; empty: nobody reads it
  std::vector<double> metric_age_ms;             ///< of the three above, or kNeverScraped
  std::vector<std::uint8_t> no_metrics;          ///< 1: not even zeros (a nil pointer in llm-d); empty: nowhere
  std::vector<std::int64_t> in_flight_requests;  ///< sent by this router and not finished
  std::vector<std::int64_t> in_flight_tokens;
  std::vector<std::int64_t> uncached_tokens;  ///< of the present request, that the endpoint would have to compute
  std::vector<PrefixMatch> prefix;            ///< of the present request: exact ones where the pipeline has them
  std::vector<PrefixMatch> approximate;       ///< the same of the approximate index, where both are there; else empty
  std::vector<LatencyPrediction> latency;     ///< of the present request; empty: no predictor
  std::vector<Adapters> adapters;             ///< empty: none
  std::vector<std::int64_t> kv_blocks;        ///< usable ones of the KV cache; empty: not known
  /// Fixed: read when a pipeline is bound to its endpoints. Empty: none.
  std::vector<std::vector<std::pair<std::string, std::string>>> labels;

  std::size_t size() const { return waiting.size(); }
  /// `count` idle endpoints, scraped just now, without adapters, labels and predictions.
  void reset(std::size_t count);
};

/// What a router sees of a request.
struct RequestView {
  static constexpr std::uint64_t kNoSession = UINT64_MAX;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;  ///< asked for at most
  std::uint32_t model = 0;
  std::int32_t priority = 0;
  std::uint64_t session = kNoSession;
  std::int64_t now_ns = 0;  ///< the instant of the decision
  /// Of the prompt, block by block as the index of prefixes cuts it; each name stands for all up to its block's end.
  std::span<const std::uint64_t> blocks{};
  std::int64_t block_tokens = 0;
  std::int64_t model_context_limit = INT64_MAX;  ///< of its model, tokens
  std::int64_t model_output_limit = INT64_MAX;
};

}  // namespace poolcast::routing
