// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

std::string argument_text(const EngineEntry& engine, std::string_view name) {
  const VllmArgs& args = engine.args;
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  if (name == "max_num_seqs") return std::to_string(args.max_num_seqs);
  if (name == "max_num_batched_tokens") return std::to_string(args.max_num_batched_tokens);
  if (name == "max_model_len") return std::to_string(args.max_model_len);
  if (name == "block_size") return std::to_string(args.block_size);
  if (name == "num_gpu_blocks_override") return limit_text(engine.num_gpu_blocks_override.value_or(INT64_MAX));
  if (name == "kv_cache_dtype") return engine.kv_cache_dtype;
  if (name == "enable_chunked_prefill") return flag(args.enable_chunked_prefill);
  if (name == "long_prefill_token_threshold") return std::to_string(args.long_prefill_token_threshold);
  if (name == "scheduling_policy") return args.policy == VllmArgs::Policy::kFcfs ? "fcfs" : "priority";
  if (name == "scheduler_reserve_full_isl") return flag(args.scheduler_reserve_full_isl);
  if (name == "enable_prefix_caching") return flag(args.enable_prefix_caching);
  if (name == "watermark") return number_text(args.watermark);
  if (name == "gpu_memory_utilization" && engine.gpu_memory_utilization) {
    return number_text(*engine.gpu_memory_utilization);
  }
  return {};
}

void write_engine(YamlWriter& yaml, const PoolEntry& pool, Resolve mode) {
  const EngineEntry& engine = pool.engine;
  yaml.open("engine");
  yaml.text("kind", engine.kind);
  yaml.value("version", fmt::format("\"{}\"", engine.version));
  yaml.value("usage", engine.offline ? "offline" : "api");
  yaml.value("fidelity", engine.args.fidelity == Fidelity::kMended ? "mended" : "upstream");
  yaml.open("args");
  for (const std::string& name : engine.modelled) {
    if (std::string text = argument_text(engine, name); !text.empty()) yaml.value(name, text);
  }
  for (const auto& [name, value] : engine.without_effect) yaml.value(name, value);
  yaml.close();
  if (mode == Resolve::kForReading) {
    yaml.comment(fmt::format("KV cache: {} blocks of {} tokens{}", engine.args.num_gpu_blocks, engine.args.block_size,
                             engine.num_gpu_blocks_override ? "" : ", by memory arithmetic"));
  }
  yaml.close();
}

void write_curves(YamlWriter& yaml, const RooflineOptions& roofline) {
  yaml.open("curves");
  yaml.open("roofline");
  yaml.value("compute_efficiency", number_text(roofline.compute_efficiency));
  yaml.value("attention_efficiency", number_text(roofline.attention_efficiency));
  yaml.value("memory_efficiency", number_text(roofline.memory_efficiency));
  yaml.value("link_efficiency", number_text(roofline.link_efficiency));
  yaml.value("link_latency", to_text(roofline.link_latency));
  yaml.value("host_base", to_text(roofline.host_base));
  yaml.value("host_per_request", to_text(roofline.host_per_request));
  yaml.value("compute", roofline.compute ? name(*roofline.compute) : "auto");
  yaml.close();
  yaml.close();
}

void write_curves(YamlWriter& yaml, const StepFit& fit) {
  yaml.open("curves");
  yaml.open("step_fit");
  yaml.value("base", to_text(fit.base));
  yaml.value("per_token", to_text(fit.per_token));
  yaml.value("per_request", to_text(fit.per_request));
  yaml.value("per_context_token", to_text(fit.per_context_token));
  yaml.value("per_prefill_context", to_text(fit.per_prefill_context));
  std::vector<std::string> range;
  const auto most = [&](const char* key, const std::optional<std::int64_t>& limit) {
    if (limit) range.push_back(fmt::format("{}: {}", key, *limit));
  };
  most("tokens", fit.max_tokens);
  most("batch", fit.max_decode_requests);
  most("context", fit.max_decode_context);
  most("prefill_context", fit.max_prefill_context);
  if (!range.empty()) yaml.value("range", fmt::format("{{{}}}", fmt::join(range, ", ")));
  if (!fit.source.empty()) yaml.text("source", fit.source);
  yaml.close();
  yaml.close();
}

}  // namespace

void write_pool(YamlWriter& yaml, const PoolEntry& pool, Resolve mode) {
  yaml.open_item();
  yaml.text("name", pool.name);
  write_figures(yaml, pool.accelerator);
  yaml.value("layout", fmt::format("{{tp: {}, pp: {}}}", pool.layout.tp, pool.layout.pp));
  yaml.value("replicas", std::to_string(pool.replicas));
  write_engine(yaml, pool, mode);
  std::visit([&](const auto& curves) { write_curves(yaml, curves); }, pool.curves);
  yaml.value("price", pool.price_per_device
                          ? fmt::format("{{reserved: {} per device}}", to_text(*pool.price_per_device))
                          : "none");
  yaml.value("max_pending_requests", limit_text(pool.max_pending_requests));
  yaml.close_item();
}

}  // namespace poolcast
