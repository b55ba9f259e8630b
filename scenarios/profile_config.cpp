// SPDX-License-Identifier: Apache-2.0
// Scheduling profiles of an EndpointPickerConfig, and the handler that says which of them chooses.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenarios/endpoint_picker_parts.h"
#include "sim/routing/registry.h"

namespace poolcast {
namespace {

using routing::PipelineSpec;
using routing::PluginInfo;
using routing::Value;

constexpr const char* kApart = "disagg-profile-handler";

struct ProfileEntry {
  std::string name;
  std::vector<PipelineSpec::Ref> refs;
};

ProfileEntry read_profile(const YamlNode& node, const PipelineSpec& spec) {
  ProfileEntry profile;
  MappingReader reader(node);
  profile.name = reader.required("name").text();
  bool picks = false;
  if (const auto plugins = reader.optional("plugins")) {
    for (const YamlNode& item : plugins->items()) {
      MappingReader entry(item);
      const YamlNode ref = entry.required("pluginRef");
      PipelineSpec::Ref use{read_plugin_ref(ref, spec), 1};
      if (const auto weight = entry.optional("weight")) use.weight = weight->number();
      entry.finish();
      const PluginInfo& info = *routing::find_plugin(spec.plugins[use.plugin].type);
      if (info.make == nullptr) ref.fail(fmt::format("a {} does not stand in a profile", info.family));
      if (info.is("picker") && picks) ref.fail("the profile has a picker already");
      picks = picks || info.is("picker");
      profile.refs.push_back(use);
    }
  }
  reader.finish();
  return profile;
}

std::vector<ProfileEntry> read_list(const YamlNode& list, const PipelineSpec& spec) {
  std::vector<ProfileEntry> profiles;
  for (const YamlNode& item : list.items()) {
    profiles.push_back(read_profile(item, spec));
    for (std::size_t i = 0; i + 1 < profiles.size(); ++i) {
      if (profiles[i].name != profiles.back().name) continue;
      item.find("name")->fail(fmt::format("the profile name {} is taken", quote(profiles.back().name)));
    }
  }
  return profiles;
}

/// The node of a parameter's own value, for messages; the plugin where it is not written out.
YamlNode parameter_at(const YamlNode& plugin, std::initializer_list<const char*> keys) {
  YamlNode at = plugin;
  for (const char* key : keys) {
    if (const auto below = at.find(key)) at = *below;
  }
  return at;
}

/// A text below a map parameter of the handler, or what stands for it.
std::string named(const YamlNode& plugin, const Value& map, const char* parameter, const char* key,
                  const char* otherwise) {
  const Value* value = map.find(key);
  if (value == nullptr) return otherwise;
  if (value->kind != Value::Kind::kText || value->text.empty()) {
    parameter_at(plugin, {"parameters", parameter, key}).fail("must be a name");
  }
  return value->text;
}

void check_keys(const YamlNode& plugin, const Value& map, const char* parameter) {
  const YamlNode at = parameter_at(plugin, {"parameters", parameter});
  if (map.kind == Value::Kind::kNull) return;
  if (map.kind != Value::Kind::kMap) at.fail("must be a mapping");
  for (const std::string& key : map.keys) {
    if (key == "encode") MappingReader(at).fail_at_key(key, "a profile that encodes is known but not modelled yet");
    if (key == "decode" || key == "prefill") continue;
    MappingReader(at).fail_at_key(key, "unknown key", "one of decode, prefill");
  }
}

struct Handler {
  std::string decode = "decode", prefill = "prefill";
  std::optional<routing::PrefillRule> rule;
};

Handler read_handler(const YamlNode& plugin, const routing::PluginSpec& handler, const PipelineSpec& spec) {
  const routing::Settings settings(routing::find_plugin(kApart)->parameters, handler.parameters);
  const Value& profiles = settings.raw("profiles");
  const Value& deciders = settings.raw("deciders");
  check_keys(plugin, profiles, "profiles");
  check_keys(plugin, deciders, "deciders");
  Handler read;
  read.decode = named(plugin, profiles, "profiles", "decode", "decode");
  read.prefill = named(plugin, profiles, "profiles", "prefill", "prefill");
  const std::string decider = named(plugin, deciders, "deciders", "prefill", "");
  if (decider.empty()) return read;
  const auto place = std::find_if(spec.plugins.begin(), spec.plugins.end(),
                                  [&](const routing::PluginSpec& p) { return p.name == decider; });
  if (place == spec.plugins.end() || !routing::find_plugin(place->type)->is("decider")) {
    parameter_at(plugin, {"parameters", "deciders", "prefill"})
        .fail(fmt::format("there is no decider named {} among the plugins", quote(decider)));
  }
  if (place->type != "prefix-based-pd-decider") return read;
  const routing::Settings rule(routing::find_plugin(place->type)->parameters, place->parameters);
  read.rule = {rule.integer("promptTokens"), rule.integer("nonCachedTokens")};
  return read;
}

void take(const YamlNode& list, std::vector<ProfileEntry>& profiles, const std::string& name, PipelineSpec& spec) {
  std::vector<std::string_view> names;
  for (ProfileEntry& profile : profiles) {
    names.push_back(profile.name);
    if (profile.name != name) continue;
    spec.profile = profile.name;
    spec.refs = std::move(profile.refs);
    return;
  }
  list.fail(fmt::format("there is no scheduling profile named {}", quote(name)), spelling_hint(name, names));
}

}  // namespace

void read_profiles(MappingReader& root, PoolRole role, PipelineSpec& spec) {
  const auto list = root.optional("schedulingProfiles");
  std::vector<ProfileEntry> profiles;
  if (list) profiles = read_list(*list, spec);
  for (std::size_t i = 0; i < spec.plugins.size(); ++i) {
    if (spec.plugins[i].type != kApart) continue;
    const YamlNode plugin = root.node().find("plugins")->items()[i];
    const Handler handler = read_handler(plugin, spec.plugins[i], spec);
    if (role == PoolRole::kBoth) {
      plugin.find("type")->fail(
          "has profiles for pools with the role prefill and the role decode, and this is neither");
    }
    if (!list) plugin.fail("needs scheduling profiles");
    take(*list, profiles, role == PoolRole::kDecode ? handler.decode : handler.prefill, spec);
    if (role == PoolRole::kDecode) spec.prefill = handler.rule;
    return;
  }
  if (profiles.size() > 1) {
    list->items()[1].fail(
        fmt::format("a second profile needs a handler that knows when to run it, such as {}", kApart));
  }
  if (!profiles.empty()) take(*list, profiles, profiles[0].name, spec);
}

}  // namespace poolcast
