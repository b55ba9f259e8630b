// SPDX-License-Identifier: Apache-2.0
#include "scenarios/endpoint_picker_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "scenarios/endpoint_picker_parts.h"
#include "scenarios/script_file.h"
#include "sim/routing/registry.h"

namespace poolcast {
namespace {

using routing::PipelineSpec;
using routing::PluginInfo;
using routing::PluginSpec;
using routing::Value;

Value scalar_value(const YamlNode& node) {
  Value value;
  const std::string& text = node.text();
  if (!node.quoted() && (text == "true" || text == "false")) {
    value.kind = Value::Kind::kBoolean;
    value.boolean = text == "true";
    return value;
  }
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value.number);
  const bool number = !node.quoted() && error == std::errc() && rest == end;
  value.kind = number ? Value::Kind::kNumber : Value::Kind::kText;
  value.text = text;
  return value;
}

Value to_value(const YamlNode& node) {
  Value value;
  if (node.is_scalar()) return scalar_value(node);
  if (node.is_list()) {
    value.kind = Value::Kind::kList;
    for (const YamlNode& item : node.items()) value.items.push_back(to_value(item));
  } else if (node.is_mapping()) {
    value.kind = Value::Kind::kMap;
    for (const auto& [key, item] : node.entries()) {
      value.keys.push_back(key);
      value.items.push_back(to_value(item));
    }
  }
  return value;
}

/// Points at what a plugin refuses.
[[noreturn]] void fail_parameters(const YamlNode& plugin, const routing::ParameterFault& fault) {
  YamlNode at = plugin.find("parameters").value_or(plugin);
  const std::vector<std::string_view> allowed(fault.allowed.begin(), fault.allowed.end());
  for (std::size_t i = 0; i < fault.path.size(); ++i) {
    const std::string& key = fault.path[i];
    if (fault.at_key && i + 1 == fault.path.size()) {
      MappingReader(at).fail_at_key(key, fault.what(), spelling_hint(key, allowed));
    }
    if (at.is_list()) {
      at = at.items()[static_cast<std::size_t>(std::stoul(key))];
    } else if (const auto below = at.find(key)) {
      at = *below;
    }
  }
  at.fail(fault.what(), spelling_hint(at.is_scalar() ? at.text() : "", allowed));
}

const PluginInfo& read_type(const YamlNode& node) {
  const std::string& type = node.text();
  if (const PluginInfo* info = routing::find_plugin(type)) return *info;
  if (const routing::MissingPlugin* missing = routing::find_missing_plugin(type)) {
    node.fail(fmt::format("llm-d's {} is not modelled: {}", type, missing->why));
  }
  std::vector<std::string_view> types;
  for (const PluginInfo& info : routing::plugin_table()) types.push_back(info.type);
  node.fail(fmt::format("unknown plugin type {}", quote(type)), spelling_hint(type, types));
}

PluginSpec read_plugin(const YamlNode& node) {
  MappingReader reader(node);
  const PluginInfo& info = read_type(reader.required("type"));
  PluginSpec plugin;
  plugin.type = info.type;
  const auto name = reader.optional("name");
  plugin.name = name ? name->text() : plugin.type;
  if (const auto parameters = reader.optional("parameters")) plugin.parameters = to_value(*parameters);
  inline_script(node, plugin.parameters);
  reader.finish();
  try {
    const routing::Settings settings(info.parameters, plugin.parameters);
    if (info.make != nullptr) info.make(settings, {.random = RandomStream(0, plugin.name)});
  } catch (const routing::ParameterFault& fault) {
    fail_parameters(node, in_script_file(node, fault));
  }
  return plugin;
}

void read_plugins(const YamlNode& list, PipelineSpec& spec) {
  std::vector<std::pair<std::string, YamlNode>> names;
  for (const YamlNode& item : list.items()) {
    spec.plugins.push_back(read_plugin(item));
    const std::string& name = spec.plugins.back().name;
    const bool taken = std::any_of(names.begin(), names.end(), [&](const auto& other) { return other.first == name; });
    if (taken) item.fail(fmt::format("the plugin name {} is taken", quote(name)), "a name of its own tells two apart");
    names.emplace_back(name, item);
  }
}

constexpr const char* kVersion = "llm-d.ai/v1alpha1";
constexpr const char* kOldVersion = "inference.networking.x-k8s.io/v1alpha1";
constexpr const char* kKind = "EndpointPickerConfig";

}  // namespace

std::size_t read_plugin_ref(const YamlNode& ref, const PipelineSpec& spec) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < spec.plugins.size(); ++i) {
    if (spec.plugins[i].name == ref.text()) return i;
    names.push_back(spec.plugins[i].name);
  }
  ref.fail(fmt::format("there is no plugin named {}", quote(ref.text())), spelling_hint(ref.text(), names));
}

PipelineSpec load_endpoint_picker(const YamlNode& node, std::vector<std::string>& notes, PoolRole role) {
  PipelineSpec spec;
  MappingReader root(node);
  root.required("apiVersion").choice({kVersion, kOldVersion});
  root.required("kind").choice({kKind});
  if (const auto plugins = root.optional("plugins")) read_plugins(*plugins, spec);
  read_profiles(root, role, spec);
  read_flow_control(root, spec, notes);
  root.finish();
  complete_pipeline(spec);
  return spec;
}

routing::PipelineSpec load_alias(const routing::PolicyAlias& alias, const YamlNode& entry) {
  try {
    const auto parameters = entry.find("parameters");
    return alias.make(parameters ? to_value(*parameters) : Value());
  } catch (const routing::ParameterFault& fault) {
    fail_parameters(entry, fault);
  }
}

std::string not_modelled(const routing::MissingPolicy& policy) {
  return fmt::format("{} is not modelled: {}", policy.name, policy.why);
}

routing::PipelineSpec load_weighted_policy(const YamlNode& node) {
  try {
    return routing::weighted_policy(node.text());
  } catch (const routing::ParameterFault& fault) {
    node.fail(fault.what(), spelling_hint("", {fault.allowed.begin(), fault.allowed.end()}));
  }
}

}  // namespace poolcast
