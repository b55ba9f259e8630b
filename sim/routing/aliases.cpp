// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/aliases.h"

#include <algorithm>

namespace poolcast::routing {
namespace {

PipelineSpec completed(PipelineSpec spec) {
  complete_pipeline(spec);
  return spec;
}

Value text_value(const std::string& text) {
  Value value;
  value.kind = Value::Kind::kText;
  value.text = text;
  return value;
}

}  // namespace

PipelineSpec one_plugin(const char* type, const Value& parameters) {
  PipelineSpec spec;
  spec.plugins.push_back({type, type, parameters});
  return completed(spec);
}

PipelineSpec scored_by(const std::string& expression) {
  Value parameters;
  parameters.kind = Value::Kind::kMap;
  parameters.keys = {"expression"};
  parameters.items = {text_value(expression)};
  return one_plugin("expr-scorer", parameters);
}

Value parameter_map(const Settings& settings, const std::vector<ParameterInfo>& table) {
  Value map;
  map.kind = Value::Kind::kMap;
  for (const ParameterInfo& info : table) {
    map.keys.emplace_back(info.name);
    map.items.push_back(settings.raw(info.name));
  }
  return map;
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

const std::vector<MissingPolicy>& missing_policies() {
  static const std::vector<MissingPolicy> table = {
      {"bucket", "smg", "how its boundaries between lengths follow the load is not published as a formula"},
      {"device-aware-weighted", "Dynamo", "a pool has devices of one kind"},
      {"least-busy-time", "AIBrix", "routers here do not see how long a replica was busy"},
      {"least-utilization", "AIBrix", "no utilisation of devices is published by the engines here"},
      {"pd", "AIBrix, production-stack, smg", "where prefill and decode are apart, `role` of pools says it"},
      {"slo", "AIBrix", "with slo-pack-load and slo-least-load: needs profiles of latency by load"},
      {"vtc-basic", "AIBrix", "requests here have no tenants"},
  };
  return table;
}

}  // namespace poolcast::routing
