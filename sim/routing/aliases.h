// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/routing/pipeline.h"

namespace poolcast::routing {

/// The routing policy of another product under its own name, as a pipeline that comes to the same rule.
struct PolicyAlias {
  std::string_view name;  ///< with @VERSION where the product's formula or defaults changed
  std::string_view origin;
  std::string_view rule;  ///< the product's, and where the pipeline differs from it
  PipelineSpec (*build)(const Settings& settings);
  std::vector<ParameterInfo> parameters{};  ///< the product's, with its defaults

  /// Throws ParameterFault.
  PipelineSpec make(const Value& given = {}) const { return build(Settings(parameters, given)); }
};

/// In alphabetical order.
const std::vector<PolicyAlias>& policy_aliases();
const PolicyAlias* find_alias(std::string_view name);  ///< null when there is none

/// Several policies at once: "least-request:2,prefix-cache:1", as AIBrix takes them. Throws ParameterFault.
PipelineSpec weighted_policy(std::string_view text);

/// Policies of other products that are not modelled, and why.
struct MissingPolicy {
  std::string_view name, origin, why;
};
const std::vector<MissingPolicy>& missing_policies();
const MissingPolicy* find_missing_policy(std::string_view name);  ///< null when there is none

// One file a kind: each adds its lines to the table.
void add_expression_aliases(std::vector<PolicyAlias>& table);
void add_plugin_aliases(std::vector<PolicyAlias>& table);

// For those files: pipelines with every default filled in.
PipelineSpec scored_by(const std::string& expression, bool by_kv_events = false);
PipelineSpec one_plugin(const char* type, const Value& parameters = {});
/// Has engines tell what their prefix caches hold: a plugin beside those that go by it.
PluginSpec kv_events();
Value parameter_map(const Settings& settings, const std::vector<ParameterInfo>& table);

}  // namespace poolcast::routing
