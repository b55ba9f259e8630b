// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/aliases.h"

#include <algorithm>

namespace poolcast::routing {
namespace {

PipelineSpec completed(PipelineSpec spec) {
  complete_pipeline(spec);
  return spec;
}

}  // namespace

PipelineSpec one_plugin(const char* type, const Value& parameters) {
  PipelineSpec spec;
  spec.plugins.push_back({type, type, parameters});
  return completed(spec);
}

PluginSpec kv_events() { return {"precise-prefix-cache-producer", "precise-prefix-cache-producer", {}}; }

PipelineSpec scored_by(const std::string& expression, bool by_kv_events) {
  PipelineSpec spec;
  spec.plugins.push_back({"expr-scorer", "expr-scorer", map_value({{"expression", text_value(expression)}})});
  if (by_kv_events) spec.plugins.push_back(kv_events());
  return completed(spec);
}

Value parameter_map(const Settings& settings, const std::vector<ParameterInfo>& table) {
  std::vector<std::pair<std::string, Value>> entries;
  for (const ParameterInfo& info : table) entries.emplace_back(info.name, settings.raw(info.name));
  return map_value(std::move(entries));
}

const std::vector<PolicyAlias>& policy_aliases() {
  static const std::vector<PolicyAlias> table = [] {
    std::vector<PolicyAlias> all;
    add_expression_aliases(all);
    add_plugin_aliases(all);
    std::sort(all.begin(), all.end(), [](const PolicyAlias& a, const PolicyAlias& b) { return a.name < b.name; });
    return all;
  }();
  return table;
}

const PolicyAlias* find_alias(std::string_view name) {
  for (const PolicyAlias& alias : policy_aliases()) {
    if (alias.name == name) return &alias;
  }
  return nullptr;
}

const std::vector<MissingPolicy>& missing_policies() {
  static const std::vector<MissingPolicy> table = {
      {"pd", "AIBrix, production-stack, smg", "where prefill and decode are apart, `role` of pools says it"},
      {"prefix-cache-preble", "AIBrix",
       "its costs are times fitted to one device and no formula is published; prefix-cache, loadaware and dynamo-kv "
       "weigh a match against the load"},
      {"slo", "AIBrix",
       "it is slo-least-load-pulling: slo-least-load with flow control before it (`flowControl`, its "
       "`defaultRequestTTL` at the TTFT objective) holds requests back and rejects them once that is broken"},
      {"slo-least-load-pulling", "AIBrix",
       "slo-least-load with flow control before it (`flowControl`, its `defaultRequestTTL` at the TTFT objective) "
       "holds requests back and rejects them once that is broken"},
      {"vtc-basic", "AIBrix",
       "requests here have no tenants, and how their tokens choose a replica is not published; "
       "round-robin-fairness-policy of flow control takes the entries of the workload in turn"},
      {"weighted-scorers", "BLIS",
       "state the scorers with their weights: `policy: \"least-request:2,least-kv-cache:1\"`"},
  };
  return table;
}

const MissingPolicy* find_missing_policy(std::string_view name) {
  for (const MissingPolicy& policy : missing_policies()) {
    if (policy.name == name) return &policy;
  }
  return nullptr;
}

}  // namespace poolcast::routing
