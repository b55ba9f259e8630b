// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "scenarios/engines/engine_kind.h"
#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

void write_engine(YamlWriter& yaml, const PoolEntry& pool, Resolve mode) {
  const EngineEntry& engine = pool.engine;
  const EngineKind& kind = *engine_kind(engine.kind);
  EngineArgs args = engine.settings.args;
  yaml.open("engine");
  yaml.value("kind", engine.kind);
  yaml.value("version", fmt::format("\"{}\"", engine.version));
  yaml.value("usage", engine.offline ? "offline" : "api");
  if (kind.fidelity != nullptr) {
    yaml.value("fidelity", *kind.fidelity(args) == Fidelity::kMended ? "mended" : "upstream");
  }
  yaml.open("args");
  for (const std::string& name : engine.modelled) {
    if (const std::string text = kind.find(name)->text(engine.settings); !text.empty()) yaml.value(name, text);
  }
  for (const auto& [name, value] : engine.without_effect) yaml.value(name, value);
  yaml.close();
  if (mode == Resolve::kForReading && kind.kv && (kind.kv->applies == nullptr || kind.kv->applies(args))) {
    const std::int64_t tokens = kind.kv->tokens(args);
    const std::int64_t longest = kind.context(args);
    yaml.comment(fmt::format("KV cache: {} tokens in blocks of {}{}: {:.2f} sequences of {} tokens at once", tokens,
                             kind.kv->block_size(args), engine.settings.stated_kv ? "" : ", by memory arithmetic",
                             static_cast<double>(tokens) / static_cast<double>(longest), longest));
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
  yaml.value("host_overlap", argument::flag_text(roofline.host_overlap));
  if (roofline.expert_skew) {
    yaml.value("expert_skew", number_text(*roofline.expert_skew));
  } else {
    yaml.value("expert_imbalance", number_text(roofline.expert_imbalance));
  }
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

void write_curves(YamlWriter& yaml, const MeasuredCurve& curve, Resolve mode) {
  yaml.open("curves");
  if (mode == Resolve::kForReading) yaml.text("file", curve.file);
  yaml.value("digest", "sha256:" + curve.content->digest);
  yaml.close();
}

void write_curves(YamlWriter& yaml, const CurveSource& curves, Resolve mode) {
  if (const auto* const roofline = std::get_if<RooflineOptions>(&curves)) return write_curves(yaml, *roofline);
  if (const auto* const fit = std::get_if<StepFit>(&curves)) return write_curves(yaml, *fit);
  write_curves(yaml, std::get<MeasuredCurve>(curves), mode);
}

}  // namespace

std::string layout_text(const Layout& layout) {
  return fmt::format("{{tp: {}, pp: {}, dp: {}, ep: {}}}", layout.tp, layout.pp, layout.dp, layout.ep);
}

namespace {

void write_labels(YamlWriter& yaml, const PoolEntry& pool) {
  if (pool.labels.empty()) return;
  std::vector<std::string> replicas;
  for (const auto& labels : pool.labels) {
    std::string text;
    for (const auto& [key, value] : labels) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", yaml_text(key), yaml_text(value));
    }
    replicas.push_back("{" + text + "}");
  }
  yaml.value("labels", flow_list(replicas));
}

}  // namespace

void write_pool(YamlWriter& yaml, const PoolEntry& pool, Resolve mode) {
  yaml.open_item();
  yaml.text("name", pool.name);
  if (!pool.region.empty()) yaml.text("region", pool.region);
  yaml.value("role", name(pool.role));
  write_figures(yaml, pool.accelerator);
  yaml.value("layout", layout_text(pool.layout));
  yaml.value("replicas", std::to_string(pool.replicas));
  write_engine(yaml, pool, mode);
  write_curves(yaml, pool.curves, mode);
  yaml.value("price", pool.price_per_device
                          ? fmt::format("{{reserved: {} per device}}", to_text(*pool.price_per_device))
                          : "none");
  yaml.value("max_pending_requests", limit_text(pool.max_pending_requests));
  write_labels(yaml, pool);
  if (pool.host_bandwidth) yaml.value("host_bandwidth", to_text(*pool.host_bandwidth));
  yaml.close_item();
}

}  // namespace poolcast
