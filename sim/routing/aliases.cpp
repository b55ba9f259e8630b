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

PipelineSpec scored_by(const std::string& expression) {
  return one_plugin("expr-scorer", map_value({{"expression", text_value(expression)}}));
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
      {"bucket", "smg", "how its boundaries between lengths follow the load is not published as a formula"},
      {"least-busy-time", "AIBrix", "routers here do not see how long a replica was busy"},
      {"least-utilization", "AIBrix", "no utilisation of devices is published by the engines here"},
      {"pd", "AIBrix, production-stack, smg", "where prefill and decode are apart, `role` of pools says it"},
      {"slo", "AIBrix", "with slo-pack-load and slo-least-load: needs profiles of latency by load"},
      {"vtc-basic", "AIBrix", "requests here have no tenants"},
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
