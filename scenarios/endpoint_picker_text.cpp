// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/endpoint_picker_config.h"
#include "scenarios/endpoint_picker_parts.h"
#include "scenarios/yaml_writer.h"
#include "sim/routing/registry.h"

namespace poolcast {
namespace {

using routing::PipelineSpec;
using routing::PluginInfo;
using routing::PluginSpec;
using routing::Value;

/// In quotes, so that "16" stays text.
std::string quoted(const std::string& text) {
  const std::string yaml = yaml_text(text);
  return yaml.front() == '"' ? yaml : '"' + yaml + '"';
}

std::string value_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBoolean:
      return value.boolean ? "true" : "false";
    case Value::Kind::kNumber:
      return routing::shortest(value.number);
    case Value::Kind::kText:
      return quoted(value.text);
    case Value::Kind::kList: {
      std::vector<std::string> items;
      for (const Value& item : value.items) items.push_back(value_text(item));
      return flow_list(items);
    }
    case Value::Kind::kMap: {
      std::string text;
      for (std::size_t i = 0; i < value.keys.size(); ++i) {
        text += fmt::format("{}{}: {}", i > 0 ? ", " : "", yaml_text(value.keys[i]), value_text(value.items[i]));
      }
      return "{" + text + "}";
    }
  }
  return "null";
}

std::string plugin_text(const PluginSpec& plugin) {
  const PluginInfo& info = *routing::find_plugin(plugin.type);
  const routing::Settings settings(info.parameters, plugin.parameters);
  std::string parameters;
  for (const routing::ParameterInfo& parameter : info.parameters) {
    const Value& value = settings.raw(parameter.name);
    if (value.kind == Value::Kind::kNull) continue;
    parameters += fmt::format("{}{}: {}", parameters.empty() ? "" : ", ", parameter.name, value_text(value));
  }
  return fmt::format("{{name: {}, type: {}{}}}", yaml_text(plugin.name), plugin.type,
                     parameters.empty() ? "" : ", parameters: {" + parameters + "}");
}

}  // namespace

std::string endpoint_picker_text(const PipelineSpec& spec) {
  std::vector<std::string> plugins, refs;
  for (const PluginSpec& plugin : spec.plugins) plugins.push_back(plugin_text(plugin));
  for (const PipelineSpec::Ref& ref : *spec.refs) {
    refs.push_back(fmt::format("{{pluginRef: {}, weight: {}}}", yaml_text(spec.plugins[ref.plugin].name),
                               routing::shortest(ref.weight)));
  }
  return fmt::format(
      "{{apiVersion: llm-d.ai/v1alpha1, kind: EndpointPickerConfig, plugins: {}, schedulingProfiles: [{{name: {}, "
      "plugins: {}}}]{}}}",
      flow_list(plugins), yaml_text(spec.profile), flow_list(refs), flow_control_text(spec));
}

}  // namespace poolcast
