// SPDX-License-Identifier: Apache-2.0
// Policies that are one expression. Sources: smg (lightseekorg/smg 73da68ca), AIBrix (e3e10f9e), BLIS (inference-sim),
// production-stack (a6c01db0; loadaware: PR #1035), Ray Serve, Dynamo, all of 2026. The lowest load is the highest
// 1 / (1 + load); ties are random, as everywhere here. The share of the prompt that an endpoint holds is what the
// approximate prefix index believes, in blocks, where products keep trees of text; kv-aware asks the engines, too.
#include "sim/routing/aliases.h"

namespace poolcast::routing {
namespace {

constexpr const char* kLeastLoaded = "1 / (1 + endpoint.in_flight_requests)";

std::string parameter(const Settings& settings, const char* name) { return shortest(settings.number(name)); }

PipelineSpec always_busiest(const Settings&) {
  return scored_by("endpoint.in_flight_requests / (1 + pool.max_in_flight_requests)");
}

PipelineSpec cache_aware(const Settings& s) {
  return scored_by("pool.max_in_flight_requests - pool.min_in_flight_requests > " +
                   parameter(s, "balance_abs_threshold") + " && pool.max_in_flight_requests > " +
                   parameter(s, "balance_rel_threshold") +
                   " * pool.min_in_flight_requests || pool.max_prefix_share <= " + parameter(s, "cache_threshold") +
                   " ? " + kLeastLoaded + " : endpoint.prefix_share");
}

std::vector<ParameterInfo> cache_parameters(const char* cache, const char* abs, const char* rel) {
  constexpr auto kNumber = ParameterKind::kNumber;
  return {{"cache_threshold", kNumber, cache, "[0, 1]", "share of the prompt above which the cache decides"},
          {"balance_abs_threshold", kNumber, abs, "[0, inf)", "difference of requests in flight that is too much ..."},
          {"balance_rel_threshold", kNumber, rel, "[1, inf)", "... when the ratio is, too"}};
}

PipelineSpec least_load(const Settings& s) {
  return scored_by("1 / (1 + (endpoint.waiting * " + parameter(s, "mean_prefill_tokens") +
                   " + endpoint.in_flight_tokens) / " + parameter(s, "default_throughput") + " + " +
                   parameter(s, "kv_pressure_weight") + " * endpoint.kv_usage / (1 - endpoint.kv_usage))");
}

/// The fewest requests where there is no match, or the longest one leaves more than the threshold to compute.
PipelineSpec kv_aware(const Settings& s) {
  return scored_by("pool.max_match_blocks < 1 || pool.min_uncached_tokens > " + parameter(s, "kv-aware-threshold") +
                       " ? " + kLeastLoaded + " : endpoint.prefix_share",
                   true);
}

PipelineSpec least_busy(const Settings&) { return scored_by("1 - endpoint.busy"); }

PipelineSpec load_aware(const Settings& s) {
  const std::string beta = parameter(s, "beta");
  return scored_by("(endpoint.prefix_share - " + beta +
                   " * endpoint.in_flight_requests / max(pool.max_in_flight_requests, 1) + " + beta + ") / (1 + " +
                   beta + ")");
}

PipelineSpec prefix_aware(const Settings& s) {
  return scored_by("request.prompt_tokens - pool.min_uncached_tokens < max(" + parameter(s, "prefix-min-match-length") +
                   " / 4, 1) ? " + kLeastLoaded + " : endpoint.prefix_share");
}

PipelineSpec ray_prefix(const Settings& s) {
  const double threshold = s.number("imbalanced_threshold");
  const std::string even =
      threshold < 0 ? std::string()
                    : "pool.max_in_flight_requests - pool.min_in_flight_requests > " + shortest(threshold) + " || ";
  return scored_by(even + "pool.max_prefix_share < " + parameter(s, "match_rate_threshold") + " ? " + kLeastLoaded +
                   " : endpoint.prefix_share");
}

}  // namespace

void add_expression_aliases(std::vector<PolicyAlias>& table) {
  constexpr auto kNumber = ParameterKind::kNumber;
  table.push_back(
      {"always-busiest", "BLIS", "the most requests in flight: a bad example to compare with", always_busiest});
  table.push_back({"cache-aware@smg-cli", "smg",
                   "the fewest requests in flight when they differ by more than balance_abs_threshold and a factor of "
                   "balance_rel_threshold, or when no replica holds more than cache_threshold of the prompt; else the "
                   "one that holds most (blocks of the prefix index for smg's tree of text)",
                   cache_aware, cache_parameters("0.3", "64", "1.5")});
  table.push_back({"cache-aware@smg-struct", "smg", "the same with the defaults of smg's library", cache_aware,
                   cache_parameters("0.5", "32", "1.1")});
  table.push_back(
      {"kv-aware",
       "production-stack",
       "the replica that holds most of the prompt by its engine's KV events, unless none holds any, or more "
       "than kv-aware-threshold tokens are left to compute there: then the fewest requests in flight",
       kv_aware,
       {{"kv-aware-threshold", kNumber, "2000", "[0, inf)", "tokens"}}});
  table.push_back(
      {"least-busy-time", "AIBrix",
       "the least share of the last `signals.busy.window` (1 min) spent in steps; our reading of AIBrix's "
       "busy time, which its engines publish. Of replicas that are busy without a pause, all goes to the one "
       "that began last",
       least_busy});
  table.push_back({"least-utilization", "AIBrix",
                   "the same as least-busy-time: a share of busy time is what engines here publish of their use",
                   least_busy});
  table.push_back({"least-load",
                   "smg",
                   "the least (mean_prefill_tokens waiting requests + tokens in flight) / default_throughput + "
                   "kv_pressure_weight k / (1 - k), k the use of the KV cache (read at the instant, not every 10 s)",
                   least_load,
                   {{"kv_pressure_weight", kNumber, "0.15", "[0, inf)", "weight of the KV cache's pressure"},
                    {"mean_prefill_tokens", kNumber, "1024", "[0, inf)", "tokens that a waiting request counts as"},
                    {"default_throughput", kNumber, "2000", "(0, inf)", "tokens a second"}}});
  table.push_back({"loadaware",
                   "production-stack",
                   "the most share of the prompt in the cache - beta times the requests in flight over the most of any",
                   load_aware,
                   {{"beta", kNumber, "1", "[0, inf)", "weight of the load"}}});
  table.push_back({"prefix-aware@production-stack",
                   "production-stack",
                   "the replica that holds the longest prefix, equals at random; with a match shorter than "
                   "prefix-min-match-length, or none, the fewest requests in flight (blocks of the prefix index for "
                   "chunks of 128 characters, four characters a token)",
                   prefix_aware,
                   {{"prefix-min-match-length", kNumber, "0", "[0, inf)", "characters"}}});
  table.push_back({"prefix-aware@ray",
                   "Ray",
                   "the replica that holds most of the prompt where that is at least match_rate_threshold; else, or "
                   "when requests in flight differ by more than imbalanced_threshold, the fewest requests (Ray: the "
                   "smallest tree, or two choices)",
                   ray_prefix,
                   {{"imbalanced_threshold", kNumber, "-1", "", "requests; below 0: never"},
                    {"match_rate_threshold", kNumber, "0.1", "[0, 1]", "share of the prompt"}}});
}

}  // namespace poolcast::routing
