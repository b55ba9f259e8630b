// SPDX-License-Identifier: Apache-2.0
// Policies that are one plugin, whose parameters are theirs. Sources stand in the files of the plugins.
#include "sim/routing/aliases.h"
#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

PipelineSpec least_kv_cache(const Settings&) { return one_plugin("kv-cache-utilization-scorer"); }
PipelineSpec llmd(const Settings&) {
  PipelineSpec spec;
  complete_pipeline(spec);
  return spec;
}

const std::vector<ParameterInfo>& parameters_of(const char* type) { return find_plugin(type)->parameters; }

PipelineSpec of_plugin(const char* type, const Settings& settings) {
  return one_plugin(type, parameter_map(settings, parameters_of(type)));
}

/// One parameter of the plugin fixed.
PipelineSpec with(const char* type, const char* parameter, const char* text) {
  return one_plugin(type, map_value({{parameter, text_value(text)}}));
}

PipelineSpec drain_rate(const Settings&) { return one_plugin("drain-rate-scorer"); }
PipelineSpec prefix_cache(const Settings& s) { return of_plugin("prefix-or-least-request-filter", s); }
PipelineSpec prefix_hash(const Settings& s) { return of_plugin("prefix-hash-scorer", s); }
PipelineSpec session_ring(const Settings& s) { return of_plugin("session-ring-scorer", s); }
PipelineSpec sticky(const Settings& s) { return of_plugin("sticky-session-scorer", s); }
PipelineSpec consistent(const Settings&) { return with("session-ring-scorer", "withoutKey", "random"); }
PipelineSpec two_by_kv(const Settings&) { return with("two-choices-filter", "load", "kv-usage"); }
PipelineSpec two_by_requests(const Settings&) { return with("two-choices-filter", "load", "requests"); }
PipelineSpec usage(const Settings& s) { return of_plugin("usage-scorer", s); }
PipelineSpec latency_based(const Settings& s) {
  PipelineSpec spec;
  spec.plugins = {
      {"lowest-latency-filter", "lowest-latency-filter", parameter_map(s, parameters_of("lowest-latency-filter"))},
      {"random-picker", "random-picker", {}}};
  complete_pipeline(spec);
  return spec;
}
PipelineSpec by_objective(const char* load) {
  PipelineSpec spec;
  spec.plugins = {{"predicted-latency-producer", "predicted-latency-producer", {}},
                  {"slo-load-filter", "slo-load-filter", map_value({{"load", text_value(load)}})}};
  complete_pipeline(spec);
  return spec;
}
PipelineSpec slo_least_load(const Settings&) { return by_objective("least"); }
PipelineSpec slo_pack_load(const Settings&) { return by_objective("pack"); }
PipelineSpec buckets(const Settings& s) { return of_plugin("length-bucket-filter", s); }
PipelineSpec least_latency(const Settings&) { return with("answered-scorer", "metric", "latency"); }
PipelineSpec throughput(const Settings&) { return with("answered-scorer", "metric", "tokens"); }
PipelineSpec affinity(const Settings&) { return with("sticky-session-scorer", "assignment_mode", "random"); }

/// Names as Dynamo's command line has them.
PipelineSpec dynamo(const Settings& s, const char* credit, const char* policy) {
  const Value scorer = map_value({{"overlap_score_credit", s.raw(credit)},
                                  {"prefill_load_scale", s.raw("router-prefill-load-scale")},
                                  {"selection_policy", text_value(policy)}});
  const Value picker = map_value({{"temperature", s.raw("router-temperature")}});
  PipelineSpec spec;
  spec.plugins = {{"dynamo-kv-scorer", "dynamo-kv-scorer", scorer}, {"softmax-picker", "softmax-picker", picker}};
  if (!s.boolean("no-router-kv-events")) spec.plugins.push_back(kv_events());
  complete_pipeline(spec);
  return spec;
}
PipelineSpec dynamo_kv(const Settings& s) { return dynamo(s, "router-kv-overlap-score-credit", "cost"); }
PipelineSpec dynamo_older(const Settings& s) { return dynamo(s, "overlap_score_weight", "cost"); }
PipelineSpec lmetric(const Settings& s) { return dynamo(s, "router-kv-overlap-score-credit", "lmetric"); }

std::vector<ParameterInfo> dynamo_parameters(const char* credit) {
  constexpr auto kNumber = ParameterKind::kNumber;
  return {{credit, kNumber, "1", "[0, inf)", "blocks that a cached block saves"},
          {"router-prefill-load-scale", kNumber, "1", "[0, inf)", "weight of prefill against decode"},
          {"router-temperature", kNumber, "0", "[0, inf)", "of the softmax; 0: the lowest cost"},
          {"no-router-kv-events", ParameterKind::kBoolean, "false", "",
           "what was sent where counts as cached there, in place of what engines tell"}};
}

}  // namespace

void add_plugin_aliases(std::vector<PolicyAlias>& table) {
  table.push_back(
      {"bucket", "smg",
       "each replica takes a range of prompt lengths, set anew at every interval so that all would have got "
       "the same tokens since; the fewest requests in flight before that, and when they are uneven (our "
       "reading: smg publishes no formula of its borders)",
       buckets, parameters_of("length-bucket-filter")});
  table.push_back(
      {"slo-least-load", "AIBrix",
       "the fewest requests in flight of the replicas predicted to meet the objectives of the class, by the "
       "pool's own curve for AIBrix's profile; of all where none is (our reading)",
       slo_least_load});
  table.push_back({"slo-pack-load", "AIBrix",
                   "the most requests in flight of the replicas predicted to meet the objectives of the class, so that "
                   "others stay free; the fewest of all where none is (our reading)",
                   slo_pack_load});
  table.push_back(
      {"consistent-hashing", "smg", "the owner of the session on a ring of hashes; without one, any", consistent});
  table.push_back({"dynamo-kv", "Dynamo",
                   "the lowest prefill load + decode blocks, cached blocks taken off; without its host and disk tiers, "
                   "its queue and its decay of credit",
                   dynamo_kv, dynamo_parameters("router-kv-overlap-score-credit")});
  table.push_back({"dynamo-kv@overlap-weight", "Dynamo", "the same under the parameter's older name", dynamo_older,
                   dynamo_parameters("overlap_score_weight")});
  table.push_back({"latency-based", "LiteLLM",
                   "any of those whose last answers took the least time by output token, or little more", latency_based,
                   parameters_of("lowest-latency-filter")});
  table.push_back(
      {"least-latency", "AIBrix", "the least mean latency of what completed in the last minute", least_latency});
  table.push_back({"throughput", "AIBrix", "the fewest tokens of what completed in the last minute", throughput});
  table.push_back({"least-gpu-cache", "AIBrix", "the least use of the KV cache", least_kv_cache});
  table.push_back({"least-kv-cache", "AIBrix", "the least use of the KV cache", least_kv_cache});
  table.push_back({"llm-d", "llm-d",
                   "queue-scorer 2, kv-cache-utilization-scorer 2, prefix-cache-scorer 3, max-score-picker", llmd});
  table.push_back({"lmetric", "Dynamo", "the lowest prefill load, cached blocks taken off, times (running + 1)",
                   lmetric, dynamo_parameters("router-kv-overlap-score-credit")});
  table.push_back({"load-balance", "AIBrix",
                   "the fewest running requests over completions of the last minute; equals by the use of KV",
                   drain_rate});
  table.push_back({"manual", "smg", "the replica that has the session; a new session is assigned", sticky,
                   parameters_of("sticky-session-scorer")});
  table.push_back(
      {"power-of-two@ray", "Ray", "the fewer requests in flight of two replicas at random", two_by_requests});
  table.push_back({"power-of-two@smg", "smg", "the lower use of the KV cache of two replicas at random", two_by_kv});
  table.push_back({"prefix-cache", "AIBrix",
                   "the longest match among replicas that are not overloaded, where the load is even; else the fewest "
                   "requests in flight",
                   prefix_cache, parameters_of("prefix-or-least-request-filter")});
  table.push_back({"prefix-hash", "smg", "by the hash of the first tokens on a ring, with bounded load", prefix_hash,
                   parameters_of("prefix-hash-scorer")});
  table.push_back({"session", "production-stack",
                   "the owner of the session on a ring of hashes; without one, the fewest requests of the last minute",
                   session_ring, parameters_of("session-ring-scorer")});
  table.push_back({"session-affinity", "AIBrix", "the replica that has the session; a new one goes to any", affinity});
  table.push_back(
      {"usage-based", "LiteLLM", "the fewest tokens sent in this minute", usage, parameters_of("usage-scorer")});
}

}  // namespace poolcast::routing
