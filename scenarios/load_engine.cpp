// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/engines/engine_kind.h"
#include "scenarios/load_parts.h"
#include "scenarios/yaml_writer.h"

namespace poolcast {
namespace {

bool is_off(const HeavyArgument& argument, const YamlNode& value) {
  if (value.is_null()) return true;
  if (!value.is_scalar()) return false;
  for (const std::string_view word : {"false", "none", "None", "0"}) {
    if (value.text() == word) return true;
  }
  return !argument.off.empty() && value.text() == argument.off;
}

const HeavyArgument* find_heavy(const EngineKind& kind, std::string_view name) {
  for (const HeavyArgument& argument : kind.heavy) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

void check_parallel(const YamlNode& value, std::int64_t degree, std::string_view key) {
  if (value.integer(1) != degree) {
    value.fail(fmt::format("contradicts the pool's layout, which has {} {}; leave it out", key, degree));
  }
}

void check_expert_flag(const YamlNode& value, const Layout& layout) {
  const std::int64_t all = layout.tp * layout.dp;
  const std::int64_t degree = value.boolean() ? all : 1;
  if (layout.ep == degree || all == 1) return;
  value.fail(
      fmt::format("contradicts the pool's layout, which has ep {}; the flag stands for ep {}", layout.ep, degree));
}

class ArgumentReader {
 public:
  ArgumentReader(EngineEntry& engine, const EngineKind& kind, const EngineDefaults& defaults, const Layout& layout)
      : engine_(engine), kind_(kind), defaults_(defaults), layout_(layout) {}

  void read(const YamlNode& args) {
    read_all(args);
    for (const std::string& name : defaults_.missing) {
      // Without its share of the memory an engine can still state the size of its KV cache.
      if (engine_.settings.states(name) || (kind_.kv && kind_.kv->share_argument == name)) continue;
      args.fail(fmt::format("no source tells the default of {} in {} {} on this device: state it", name, engine_.kind,
                            engine_.version));
    }
  }

 private:
  void read_all(const YamlNode& args, const std::string& inside = {}) {
    const MappingReader reader(args);
    for (const auto& [spelling, value] : args.entries()) {
      const std::string name = kind_.canonical(spelling, inside);
      const bool group = value.is_mapping() && is_group(name);
      const bool argument = defaults_.find(name) != nullptr;
      if (is_group(name) && !group && !argument) {
        value.fail(fmt::format("is a group of arguments: write {}: {{argument: value, …}}", spelling));
      }
      if (!group || argument) {
        if (!engine_.settings.stated.insert(name).second) {
          reader.fail_at_key(spelling, "the argument " + quote(name) + " stands twice");
        }
        apply(reader, spelling, name, value);
      }
      if (group) read_all(value, name);
    }
  }

  bool is_group(std::string_view name) const {
    return std::find(kind_.groups.begin(), kind_.groups.end(), name) != kind_.groups.end();
  }

  void apply(const MappingReader& reader, const std::string& spelling, const std::string& name, const YamlNode& value) {
    const EngineArg* const known = defaults_.find(name);
    const HeavyArgument* const heavy = find_heavy(kind_, name);
    if (!known && !heavy) fail_unknown(reader, spelling, name);
    if (heavy && !is_off(*heavy, value)) {
      value.fail(fmt::format("{} is known but not modelled yet; leave it out or turn it off", name));
    }
    if (value.is_null() && !heavy) value.fail("has no value");
    if (name == kind_.tensor_parallel) return check_parallel(value, layout_.tp, "tp");
    if (name == kind_.pipeline_parallel) return check_parallel(value, layout_.pp, "pp");
    if (name == kind_.data_parallel) return check_parallel(value, layout_.dp, "dp");
    if (name == kind_.expert_parallel) return check_parallel(value, layout_.ep, "ep");
    if (name == kind_.expert_parallel_flag) return check_expert_flag(value, layout_);
    const EngineArgument* const followed = known ? kind_.find(name) : nullptr;
    if (followed == nullptr) {
      engine_.without_effect.emplace_back(name, value.is_null() ? "none" : flow_text(value));
    } else if (followed->of_version) {
      check_version(*followed, value);
    } else {
      followed->set(engine_.settings, value);
    }
  }

  void check_version(const EngineArgument& argument, const YamlNode& value) {
    if (argument.text(engine_.settings) == value.text()) return;
    value.fail(fmt::format("follows from the version, which has {}; leave it out", argument.text(engine_.settings)));
  }

  [[noreturn]] void fail_unknown(const MappingReader& reader, const std::string& spelling, const std::string& name) {
    auto names = defaults_.names();
    for (const auto& alias : kind_.aliases) names.push_back(alias.first);
    const std::string_view near = nearest(name, names);
    std::string hint;
    if (!near.empty()) hint = fmt::format("did you mean \"{}\"?", near);
    reader.fail_at_key(spelling, fmt::format("{} {} has no such argument", engine_.kind, engine_.version), hint);
  }

  EngineEntry& engine_;
  const EngineKind& kind_;
  const EngineDefaults& defaults_;
  const Layout& layout_;
};

void load_fidelity(const YamlNode& node, EngineEntry& engine, const EngineKind& kind) {
  const auto fidelity = static_cast<Fidelity>(node.choice({"mended", "upstream"}));
  if (kind.fidelity != nullptr) {
    *kind.fidelity(engine.settings.args) = fidelity;
  } else if (fidelity == Fidelity::kUpstream) {
    node.fail(fmt::format("{} is modelled in one way only: leave it out", kind.name));
  }
}

EngineDefaults find_defaults(const EngineEntry& engine, const YamlNode& node, const Accelerator& accelerator,
                             const Layout& layout, const Catalog& catalog) {
  const EngineUsage usage = engine.offline ? EngineUsage::kOffline : EngineUsage::kApi;
  auto defaults = catalog.engine_defaults(engine.kind, engine.version, accelerator, usage, layout.devices());
  if (!defaults) {
    deepest(node, {"version"})
        .fail(fmt::format("the catalog has no {} {}", engine.kind, quote(engine.version)),
              spelling_hint(engine.version, catalog.engine_versions(engine.kind)));
  }
  return *std::move(defaults);
}

}  // namespace

EngineEntry load_engine(const YamlNode& node, const Accelerator& accelerator, const Layout& layout,
                        const LoadContext& context) {
  EngineEntry engine;
  MappingReader reader(node);
  const auto kinds = context.catalog.engine_kinds();
  engine.kind = kinds[reader.required("kind").choice(kinds)];
  engine.version = reader.required("version").text();
  if (const auto usage = reader.optional("usage")) engine.offline = usage->choice({"api", "offline"}) == 1;
  const auto fidelity = reader.optional("fidelity");
  const YamlNode args = reader.optional("args").value_or(node.empty_mapping().renamed(node.path() + ".args"));
  reader.not_modelled_yet({"image", "driver", "runtime", "cold_start"});
  reader.finish();

  const EngineKind& kind = *engine_kind(engine.kind);
  const EngineDefaults defaults = find_defaults(engine, node, accelerator, layout, context.catalog);
  engine.settings = defaults.settings;
  if (fidelity) load_fidelity(*fidelity, engine, kind);
  if (kind.context != nullptr) kind.context(engine.settings.args) = 0;  // by the model, in complete_engine
  for (const EngineArg& arg : defaults.known) {
    if (arg.modelled) engine.modelled.push_back(arg.name);
  }
  ArgumentReader(engine, kind, defaults, layout).read(args);
  return engine;
}

}  // namespace poolcast
