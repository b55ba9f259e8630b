// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"
#include "scenarios/yaml_writer.h"

namespace poolcast {
namespace {

constexpr std::int64_t kMostBlocks = 1'000'000'000;

/// Sets one argument from its value.
using Setter = void (*)(EngineEntry& engine, const YamlNode& value);

const std::map<std::string_view, Setter>& setters() {
  static const std::map<std::string_view, Setter> kSetters = {
      {"max_num_seqs", [](EngineEntry& e, const YamlNode& v) { e.args.max_num_seqs = v.integer(1, 10'000'000); }},
      {"max_num_batched_tokens",
       [](EngineEntry& e, const YamlNode& v) { e.args.max_num_batched_tokens = v.integer(1, kMostTokens); }},
      {"max_model_len", [](EngineEntry& e, const YamlNode& v) { e.args.max_model_len = v.integer(1, kMostTokens); }},
      {"block_size", [](EngineEntry& e, const YamlNode& v) { e.args.block_size = v.integer(1, 1'000'000); }},
      {"num_gpu_blocks_override",
       [](EngineEntry& e, const YamlNode& v) {
         if (!v.is_word("none")) e.num_gpu_blocks_override = v.integer(2, kMostBlocks);
       }},
      {"gpu_memory_utilization",
       [](EngineEntry& e, const YamlNode& v) {
         e.gpu_memory_utilization = read_share(v);
         if (!(*e.gpu_memory_utilization > 0)) v.fail("must be above 0, got " + quote(v.text()));
       }},
      {"kv_cache_dtype",
       [](EngineEntry& e, const YamlNode& v) {
         const std::vector<std::string_view> known = {"auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"};
         e.kv_cache_dtype = known[v.choice(known)];
       }},
      {"enable_chunked_prefill",
       [](EngineEntry& e, const YamlNode& v) { e.args.enable_chunked_prefill = v.boolean(); }},
      {"long_prefill_token_threshold",
       [](EngineEntry& e, const YamlNode& v) { e.args.long_prefill_token_threshold = v.integer(0, kMostTokens); }},
      {"scheduling_policy",
       [](EngineEntry& e, const YamlNode& v) {
         e.args.policy = static_cast<VllmArgs::Policy>(v.choice({"fcfs", "priority"}));
       }},
      {"scheduler_reserve_full_isl",
       [](EngineEntry& e, const YamlNode& v) { e.args.scheduler_reserve_full_isl = v.boolean(); }},
      {"enable_prefix_caching", [](EngineEntry& e, const YamlNode& v) { e.args.enable_prefix_caching = v.boolean(); }},
      {"watermark",
       [](EngineEntry& e, const YamlNode& v) {
         e.args.watermark = read_share(v);
         if (e.args.watermark >= 1) v.fail("must be below 1, got " + quote(v.text()));
       }},
  };
  return kSetters;
}

/// Known to the engine, and of such weight that ignoring them would answer another question.
const std::vector<std::string_view>& heavy_arguments() {
  static const std::vector<std::string_view> kNames = {
      "speculative_config",           "num_speculative_tokens", "kv_transfer_config",   "kv_connector",
      "kv_offloading_size",           "cpu_offload_gb",         "enable_lora",          "swap_space",
      "decode_context_parallel_size", "data_parallel_size",     "kv_cache_memory_bytes"};
  return kNames;
}

bool is_off(std::string_view name, const YamlNode& value) {
  if (!value.is_scalar()) return false;
  for (const char* word : {"false", "none", "None", "0"}) {
    if (value.text() == word) return true;
  }
  return value.text() == "1" && name.size() > 5 && name.substr(name.size() - 5) == "_size" &&
         name != "kv_offloading_size";
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_parallel(const YamlNode& value, std::int64_t degree, std::string_view key) {
  if (value.integer(1) != degree) {
    value.fail(fmt::format("contradicts the pool's layout, which has {} {}; leave it out", key, degree));
  }
}

class ArgumentReader {
 public:
  ArgumentReader(EngineEntry& engine, const EngineDefaults& defaults, const Layout& layout)
      : engine_(engine), defaults_(defaults), layout_(layout) {}

  void read(const YamlNode& args) {
    const MappingReader reader(args);
    for (const auto& [spelling, value] : args.entries()) {
      const std::string name = canonical(spelling);
      if (!seen_.insert(name).second) reader.fail_at_key(spelling, "the argument " + quote(name) + " stands twice");
      if (value.is_null()) value.fail("has no value");
      apply(reader, spelling, name, value);
    }
    for (const std::string& name : defaults_.missing) {
      if (seen_.count(name) != 0 || setters().count(name) == 0) continue;
      args.fail(fmt::format("no source tells the default of {} in {} {} on this device: state it", name, engine_.kind,
                            engine_.version));
    }
  }

 private:
  /// vLLM spells an option with dashes on the command line and with underscores in its configuration.
  static std::string canonical(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name == "policy" ? "scheduling_policy" : name;
  }

  void apply(const MappingReader& reader, const std::string& spelling, const std::string& name, const YamlNode& value) {
    const EngineArg* const known = defaults_.find(name);
    const bool heavy = contains(heavy_arguments(), name);
    if (!known && !heavy) fail_unknown(reader, spelling, name);
    if (heavy && !is_off(name, value)) {
      value.fail(fmt::format("{} is known but not modelled yet; leave it out or turn it off", name));
    }
    if (name == "tensor_parallel_size") return check_parallel(value, layout_.tp, "tp");
    if (name == "pipeline_parallel_size") return check_parallel(value, layout_.pp, "pp");
    const auto setter = setters().find(name);
    if (setter != setters().end()) return setter->second(engine_, value);
    engine_.without_effect.emplace_back(name, flow_text(value));
  }

  [[noreturn]] void fail_unknown(const MappingReader& reader, const std::string& spelling, const std::string& name) {
    const std::string_view near = nearest(name, defaults_.names());
    std::string hint;
    if (!near.empty()) hint = fmt::format("did you mean \"{}\"?", near);
    reader.fail_at_key(spelling, fmt::format("{} {} has no such argument", engine_.kind, engine_.version), hint);
  }

  EngineEntry& engine_;
  const EngineDefaults& defaults_;
  const Layout& layout_;
  std::set<std::string> seen_;
};

void load_kind(MappingReader& reader, EngineEntry& engine, const Catalog& catalog) {
  const YamlNode kind = reader.required("kind");
  for (const char* known : {"sglang", "tensorrt-llm", "bucketed", "triton", "session"}) {
    if (kind.is_word(known)) kind.fail(fmt::format("the engine kind {} is known but not modelled yet", known));
  }
  const auto kinds = catalog.engine_kinds();
  engine.kind = kinds[kind.choice(kinds)];

  const YamlNode version = reader.required("version");
  engine.version = version.text();
}

}  // namespace

EngineEntry load_engine(const YamlNode& node, const Accelerator& accelerator, const Layout& layout,
                        const LoadContext& context) {
  EngineEntry engine;
  MappingReader reader(node);
  load_kind(reader, engine, context.catalog);
  if (const auto usage = reader.optional("usage")) engine.offline = usage->choice({"api", "offline"}) == 1;
  if (const auto fidelity = reader.optional("fidelity")) {
    engine.args.fidelity = fidelity->choice({"mended", "upstream"}) == 0 ? Fidelity::kMended : Fidelity::kUpstream;
  }
  const YamlNode args = reader.optional("args").value_or(node.empty_mapping().renamed(node.path() + ".args"));
  reader.not_modelled_yet({"image", "driver", "runtime", "cold_start"});
  reader.finish();

  const EngineUsage usage = engine.offline ? EngineUsage::kOffline : EngineUsage::kApi;
  const auto defaults =
      context.catalog.engine_defaults(engine.kind, engine.version, accelerator, usage, layout.devices());
  if (!defaults) {
    const YamlNode version = deepest(node, {"version"});
    version.fail(fmt::format("the catalog has no {} {}", engine.kind, quote(engine.version)),
                 spelling_hint(engine.version, context.catalog.engine_versions(engine.kind)));
  }
  const Fidelity fidelity = engine.args.fidelity;
  engine.args = defaults->args;
  engine.args.fidelity = fidelity;
  engine.args.max_model_len = 0;  // by the model, in complete_pool
  engine.args.num_gpu_blocks = 0;
  engine.gpu_memory_utilization = defaults->gpu_memory_utilization;
  for (const EngineArg& arg : defaults->known) {
    if (arg.modelled && setters().count(arg.name) != 0) engine.modelled.push_back(arg.name);
  }
  ArgumentReader(engine, *defaults, layout).read(args);
  return engine;
}

}  // namespace poolcast
