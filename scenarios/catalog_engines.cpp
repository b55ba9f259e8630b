// SPDX-License-Identifier: Apache-2.0
#include "scenarios/catalog_engines.h"

#include <algorithm>

#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr std::int64_t kLargestDefault = 1'000'000'000;

void set_policy(VllmArgs& args, const YamlNode& value) {
  args.policy = value.choice({"fcfs", "priority"}) == 0 ? VllmArgs::Policy::kFcfs : VllmArgs::Policy::kPriority;
}

struct Setter {
  std::string_view name;
  void (*set)(EngineDefaults& defaults, const YamlNode& value);
};

/// The arguments that reach VllmArgs. The others keep their default as text only.
constexpr Setter kSetters[] = {
    {"max_num_seqs", [](EngineDefaults& d, const YamlNode& v) { d.args.max_num_seqs = v.integer(1, kLargestDefault); }},
    {"max_num_batched_tokens",
     [](EngineDefaults& d, const YamlNode& v) { d.args.max_num_batched_tokens = v.integer(1, kLargestDefault); }},
    {"block_size", [](EngineDefaults& d, const YamlNode& v) { d.args.block_size = v.integer(1, kLargestDefault); }},
    {"enable_chunked_prefill",
     [](EngineDefaults& d, const YamlNode& v) { d.args.enable_chunked_prefill = v.boolean(); }},
    {"enable_prefix_caching", [](EngineDefaults& d, const YamlNode& v) { d.args.enable_prefix_caching = v.boolean(); }},
    {"long_prefill_token_threshold",
     [](EngineDefaults& d, const YamlNode& v) { d.args.long_prefill_token_threshold = v.integer(0, kLargestDefault); }},
    {"scheduling_policy", [](EngineDefaults& d, const YamlNode& v) { set_policy(d.args, v); }},
    {"scheduler_reserve_full_isl",
     [](EngineDefaults& d, const YamlNode& v) { d.args.scheduler_reserve_full_isl = v.boolean(); }},
    {"watermark", [](EngineDefaults& d, const YamlNode& v) { d.args.watermark = v.number(0, 1); }},
    {"gpu_memory_utilization", [](EngineDefaults& d, const YamlNode& v) { d.gpu_memory_utilization = v.number(0, 1); }},
};

const Setter* find_setter(std::string_view name) {
  for (const Setter& setter : kSetters) {
    if (setter.name == name) return &setter;
  }
  return nullptr;
}

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

void apply(EngineDefaults& defaults, EngineArg& arg, const YamlNode& value, std::int64_t factor) {
  const Setter* setter = find_setter(arg.name);
  if (setter != nullptr) setter->set(defaults, value);
  arg.default_value = value.text();
  if (factor == 1) return;
  // Only counts scale with the devices of a replica.
  arg.default_value = std::to_string(value.integer(1, kLargestDefault) * factor);
  if (arg.name == "max_num_seqs") defaults.args.max_num_seqs *= factor;
  if (arg.name == "max_num_batched_tokens") defaults.args.max_num_batched_tokens *= factor;
}

void read_arg(EngineDefaults& defaults, const std::string& name, const YamlNode& node, const SourceNames& sources,
              const EngineDevice& device) {
  MappingReader reader(node);
  EngineArg arg;
  arg.name = name;
  const auto modelled = reader.optional("modelled");
  if (modelled) arg.modelled = modelled->boolean();
  const auto note = reader.optional("note");
  if (note) arg.note = note->text();
  const auto [which, value] = reader.one_of({"default", "by_device", "missing"});
  if (which == 2) {
    arg.note = value.text();
    if (arg.modelled) defaults.missing.push_back(name);
  } else {
    arg.source = sources.full(reader.required("source"));
    std::int64_t factor = 1;
    const YamlNode chosen = which == 1 ? by_device(value, device, factor) : value;
    apply(defaults, arg, chosen, factor);
  }
  reader.finish();
  defaults.known.push_back(std::move(arg));
}

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
  for (const auto& [name, node] : args.entries()) read_arg(defaults, name, node, sources, device);
  return defaults;
}

}  // namespace poolcast
