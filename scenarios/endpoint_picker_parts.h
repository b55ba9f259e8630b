// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/yaml.h"
#include "sim/routing/pipeline.h"
#include "sim/spec.h"

/// The sections of an EndpointPickerConfig. Only endpoint_picker_config.cpp puts them together.
namespace poolcast {

/// The plugin that a `pluginRef` names.
std::size_t read_plugin_ref(const YamlNode& ref, const routing::PipelineSpec& spec);

/// `schedulingProfiles`: of several the one that chooses in a pool of this role.
void read_profiles(MappingReader& root, PoolRole role, routing::PipelineSpec& spec);

/// `flowControl`, `saturationDetector` and the feature gate that switches them on.
void read_flow_control(MappingReader& root, routing::PipelineSpec& spec, std::vector<std::string>& notes);

/// `flowControl` and its gate as members of a mapping in one line, a comma before them; empty where it is off.
std::string flow_control_text(const routing::PipelineSpec& spec);

}  // namespace poolcast
