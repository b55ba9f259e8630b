// SPDX-License-Identifier: Apache-2.0
#include "scenarios/catalog_engines.h"

#include <algorithm>

#include "models/error.h"
#include "scenarios/engines/engine_kind.h"
#include "scenarios/units.h"
#include "scenarios/yaml_writer.h"

namespace poolcast {
namespace {

constexpr std::int64_t kLargestDefault = 1'000'000'000;

bool lists(const YamlNode& names, const std::string& name) {
  for (const YamlNode& entry : names.items()) {
    if (entry.text() == name) return true;
  }
  return false;
}

/// Whether the conditions of a case hold. All keys are asked for, so that `finish` finds the unknown ones.
bool holds(MappingReader& reader, const EngineDevice& device) {
  bool all = true;
  std::vector<std::string_view> kinds;
  for (DeviceKind kind : kDeviceKinds) kinds.push_back(name(kind));
  const auto kind = reader.optional("kind");
  if (kind) all = all && kDeviceKinds[kind->choice(kinds)] == device.accelerator.kind;
  const auto only = reader.optional("only");
  if (only) all = all && lists(*only, device.accelerator.name);
  const auto except = reader.optional("except");
  if (except) all = all && !lists(*except, device.accelerator.name);
  const auto memory = reader.optional("min_memory");
  if (memory) all = all && device.accelerator.require_memory() >= read_bytes(*memory);
  return all;
}

/// The value of the first case that holds; the last case has no conditions, as the table is written.
YamlNode by_device(const YamlNode& cases, const EngineDevice& device, std::int64_t& factor) {
  for (const YamlNode& node : cases.items()) {
    MappingReader reader(node);
    const YamlNode offline = reader.required("offline");
    const YamlNode api = reader.required("api");
    const auto per_device = reader.optional("per_device");
    const bool found = holds(reader, device);
    reader.finish();
    if (!found) continue;
    factor = per_device && per_device->boolean() ? device.devices : 1;
    return device.usage == EngineUsage::kOffline ? offline : api;
  }
  cases.fail("no case holds for " + device.accelerator.name);
}

/// A count that grows with the devices of a replica.
YamlNode scaled(const YamlNode& value, std::int64_t factor) {
  if (factor == 1) return value;
  return parse_yaml("", std::to_string(value.integer(1, kLargestDefault) * factor), true);
}

/// Reads the arguments of one version.
class DefaultsReader {
 public:
  DefaultsReader(EngineDefaults& defaults, const EngineKind& kind, const SourceNames& sources,
                 const EngineDevice& device)
      : defaults_(defaults), kind_(kind), sources_(sources), device_(device) {}

  void read(const std::string& name, const YamlNode& node) {
    MappingReader reader(node);
    EngineArg arg;
    arg.name = name;
    if (const auto modelled = reader.optional("modelled")) arg.modelled = modelled->boolean();
    if (const auto note = reader.optional("note")) arg.note = note->text();
    const EngineArgument* const followed = kind_.find(name);
    if (arg.modelled != (followed != nullptr)) {
      node.fail(arg.modelled ? "the simulation does not follow it: modelled: false" : "the simulation follows it");
    }
    const auto [which, value] = reader.one_of({"default", "by_device", "derived", "missing"});
    if (which == 3) {
      arg.note = value.text();
    } else {
      arg.source = sources_.full(reader.required("source"));
      set(arg, followed, which, value);
    }
    reader.finish();
    if (arg.modelled && !arg.default_value) defaults_.missing.push_back(name);
    defaults_.known.push_back(std::move(arg));
  }

 private:
  void set(EngineArg& arg, const EngineArgument* followed, std::size_t which, const YamlNode& value) try {
    std::int64_t factor = 1;
    const YamlNode chosen = which == 1 ? by_device(value, device_, factor) : value;
    const YamlNode full = scaled(chosen, factor);
    arg.default_value = full.is_scalar() ? full.text() : flow_text(full);
    if (followed != nullptr && which != 2) followed->set(defaults_.settings, full);
  } catch (const MissingFigure&) {
    arg.note = "it depends on the memory of the device, which nobody states";
  }

  EngineDefaults& defaults_;
  const EngineKind& kind_;
  const SourceNames& sources_;
  const EngineDevice& device_;
};

}  // namespace

const EngineArg* EngineDefaults::find(std::string_view name) const {
  const auto found = std::find_if(known.begin(), known.end(), [&](const EngineArg& arg) { return arg.name == name; });
  return found == known.end() ? nullptr : &*found;
}

std::vector<std::string_view> EngineDefaults::names() const {
  std::vector<std::string_view> list;
  for (const EngineArg& arg : known) list.push_back(arg.name);
  return list;
}

EngineDefaults read_engine_defaults(const std::string& kind, const std::string& version, const YamlNode& args,
                                    const SourceNames& sources, const EngineDevice& device) {
  EngineDefaults defaults;
  defaults.kind = kind;
  defaults.version = version;
  const EngineKind* const found = engine_kind(kind);
  if (found == nullptr) args.fail("no engine of this kind is described", spelling_hint(kind, engine_kind_names()));
  defaults.settings.args = found->blank();
  DefaultsReader reader(defaults, *found, sources, device);
  for (const auto& [name, node] : args.entries()) reader.read(name, node);
  return defaults;
}

}  // namespace poolcast
