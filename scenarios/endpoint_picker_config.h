// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenarios/yaml.h"
#include "sim/routing/aliases.h"
#include "sim/routing/pipeline.h"
#include "sim/spec.h"

namespace poolcast {

/// Reads an EndpointPickerConfig of llm-d as it is written for the real endpoint picker, and fills in the defaults that
/// llm-d fills in. Unknown keys, plugins and parameters, values that the plugin refuses, references to nothing and
/// names that stand twice throw ConfigError. What is read and has no effect here is told in `notes`. Of profiles that
/// choose for prefill and for decode it takes the one for pools of this role.
routing::PipelineSpec load_endpoint_picker(const YamlNode& node, std::vector<std::string>& notes,
                                           PoolRole role = PoolRole::kBoth);

/// The pipeline of another product's policy. `entry` may hold `parameters`; throws ConfigError for those that the
/// policy refuses.
routing::PipelineSpec load_alias(const routing::PolicyAlias& alias, const YamlNode& entry);

/// "least-request:2,prefix-cache:1". Throws ConfigError.
routing::PipelineSpec load_weighted_policy(const YamlNode& node);

/// The message about a policy that is not modelled.
std::string not_modelled(const routing::MissingPolicy& policy);

/// The whole configuration in one line of YAML, every default in its place; reads back as the same.
std::string endpoint_picker_text(const routing::PipelineSpec& spec);

}  // namespace poolcast
