// SPDX-License-Identifier: Apache-2.0
#include "tools/catalog_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "scenarios/engines/engine_kind.h"
#include "scenarios/human.h"
#include "scenarios/text_table.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr const char* kMissing = "missing";

template <class T>
std::string value_text(const std::optional<T>& value) {
  return value ? to_text(*value) : kMissing;
}

/// The bare number in the unit of a column.
template <class T>
std::string in_units(const std::optional<T>& value, double unit) {
  return value ? number_text(value->value / unit) : kMissing;
}

/// "8.03 B": parameters in billions.
std::string billions(const std::optional<double>& count) {
  return count ? human_number(*count / 1e9) + " B" : kMissing;
}

std::string usd_per_hour(const std::optional<DollarsPerHour>& price) {
  return price ? human_usd(price->value) + "/h" : kMissing;
}

std::string range_text(const std::optional<DollarsPerHour>& lowest, const std::optional<DollarsPerHour>& highest) {
  if (lowest == highest) return value_text(lowest);
  return value_text(lowest) + " to " + value_text(highest);
}

std::string line(const std::string& what, const std::string& text) {
  return wrapped(fmt::format("  {:<22}", what), text);
}

/// Sources as marks behind the figures and a list at the end.
class Footnotes {
 public:
  /// "value (note) [1]".
  std::string mark(const std::string& value, const std::string& note, const std::string& source) {
    std::string text = value;
    if (!note.empty()) text += " (" + note + ")";
    if (source.empty()) return text;
    const auto known = std::find(sources_.begin(), sources_.end(), source);
    text += fmt::format(" [{}]", known - sources_.begin() + 1);
    if (known == sources_.end()) sources_.push_back(source);
    return text;
  }

  template <class T>
  std::string figure(const std::string& what, const Sourced<T>& figure) {
    return line(what, mark(value_text(figure.value), figure.note, figure.source));
  }

  std::string text() const {
    std::string list = sources_.empty() ? "" : "sources\n";
    for (std::size_t i = 0; i < sources_.size(); ++i) list += wrapped(fmt::format("  [{}] ", i + 1), sources_[i]);
    return list;
  }

 private:
  std::vector<std::string> sources_;
};

std::string price_lines(const Accelerator& accelerator, const Catalog& catalog) {
  std::string text;
  for (const PriceEntry& price : catalog.prices()) {
    if (price.accelerator != accelerator.name) continue;
    text += line("price per device", usd_per_hour(price.on_demand_per_device()) + " on demand, " + price.name());
  }
  return text.empty() ? line("price per device", kMissing) : text;
}

/// What holds for every version: tasks, names of the telemetry, and what the model of the engine leaves out.
std::string kind_text(const EngineKind& kind, const EngineArgs& args) {
  std::vector<std::string_view> tasks, telemetry;
  for (const Task task : kind.tasks) tasks.emplace_back(name(task));
  const Telemetry& shown = kind.telemetry_of(args);
  for (const std::string_view signal : {shown.signals.waiting, shown.signals.running, shown.signals.kv_use}) {
    if (!signal.empty()) telemetry.push_back(signal);
  }
  for (const NativeFigure& figure : shown.native) telemetry.push_back(figure.name);
  std::string text = wrapped("tasks      ", fmt::format("{}", fmt::join(tasks, ", ")));
  if (!telemetry.empty()) text += wrapped("telemetry  ", fmt::format("{}", fmt::join(telemetry, ", ")));
  return text + wrapped("left out   ", fmt::format("{}", fmt::join(kind.left_out, "; ")));
}

}  // namespace

std::string accelerators_text(const Catalog& catalog) {
  TextTable table({"accelerators", "bf16 TFLOP/s", "fp8 TFLOP/s", "memory GB", "TB/s", "link GB/s", "TDP W"});
  for (const Accelerator& entry : catalog.accelerators()) {
    table.row({entry.name, in_units(entry.peak_of(Precision::kBf16).value, 1e12),
               in_units(entry.peak_of(Precision::kFp8).value, 1e12), in_units(entry.memory.value, 1e9),
               in_units(entry.memory_bandwidth.value, 1e12), in_units(entry.link_bandwidth.value, 1e9),
               in_units(entry.tdp.value, 1)});
  }
  return table.text();
}

std::string models_text(const Catalog& catalog) {
  TextTable table({"models", "parameters", "active", "layers", "hidden", "context", "KV per token, bf16"});
  for (const ModelEntry& entry : catalog.models()) {
    const TransformerShape& shape = entry.shape;
    table.row({shape.name, billions(parameters(shape)), billions(active_parameters(shape)),
               std::to_string(shape.layers), std::to_string(shape.hidden), std::to_string(shape.context_limit),
               to_text(kv_bytes_per_token(shape, Precision::kBf16))});
  }
  return table.text();
}

std::string engines_text(const Catalog& catalog) {
  TextTable table({"engines", "versions"});
  for (const std::string_view kind : catalog.engine_kinds()) {
    std::string versions;
    for (const std::string_view version : catalog.engine_versions(kind)) {
      if (!versions.empty()) versions += ", ";
      versions += version;
    }
    table.row({std::string(kind), versions});
  }
  return table.text();
}

std::string prices_text(const Catalog& catalog) {
  TextTable table({"prices", "accelerator", "devices", "instance", "per device"});
  for (const PriceEntry& entry : catalog.prices()) {
    table.row({entry.name(), entry.accelerator.empty() ? entry.device + " (not in catalog)" : entry.accelerator,
               std::to_string(entry.count), usd_per_hour(entry.on_demand), usd_per_hour(entry.on_demand_per_device())});
  }
  return table.text();
}

std::string accelerator_text(const Accelerator& accelerator, const Catalog& catalog) {
  Footnotes notes;
  std::string text = fmt::format("{}: {}\n", accelerator.name, accelerator.title);
  text += line("vendor, family, kind",
               fmt::format("{}, {}, {}", accelerator.vendor, accelerator.family, name(accelerator.kind)));
  for (Precision precision : kPrecisions) {
    text += notes.figure(std::string("peak ") + name(precision), accelerator.peak_of(precision));
  }
  text += notes.figure("memory", accelerator.memory);
  text += notes.figure("addressable memory", accelerator.addressable_memory);
  text += notes.figure("memory bandwidth", accelerator.memory_bandwidth);
  text += notes.figure("link, one way", accelerator.link_bandwidth);
  text += notes.figure("TDP", accelerator.tdp);
  return text + price_lines(accelerator, catalog) + notes.text();
}

std::string model_text(const ModelEntry& model) {
  const TransformerShape& shape = model.shape;
  std::string text = fmt::format("{}: {}\n", shape.name, model.title);
  text += line("layers", fmt::format("{} ({} of them with experts)", shape.layers, shape.moe_layers()));
  text += line("hidden, intermediate", fmt::format("{}, {}", shape.hidden, shape.intermediate));
  text += line("heads", fmt::format("{} of width {}, {} KV heads", shape.heads, shape.head_dim, shape.kv_heads));
  if (shape.moe) {
    text +=
        line("experts", fmt::format("{} of width {}, {} per token, {} shared", shape.moe->experts,
                                    shape.moe->intermediate, shape.moe->experts_per_token, shape.moe->shared_experts));
  }
  if (shape.mla) {
    text += line("latent attention",
                 fmt::format("KV rank {}, query rank {}, keys {} + {} rotary, values {}", shape.mla->kv_lora_rank,
                             shape.mla->q_lora_rank, shape.mla->qk_nope_head_dim, shape.mla->qk_rope_head_dim,
                             shape.mla->v_head_dim));
  }
  text += line("vocabulary", fmt::format("{}{}", shape.vocab, shape.tied_embeddings ? ", embeddings tied" : ""));
  text += line("context limit", std::to_string(shape.context_limit));
  text +=
      line("parameters", billions(parameters(shape)) + " from the shape, " + billions(model.parameters) + " published");
  if (shape.moe) {
    text += line("active parameters", billions(active_parameters(shape)) + " from the shape, " +
                                          billions(model.active_parameters) + " published");
  }
  text += line("weights", fmt::format("{} GB at bf16, {} GB at fp8",
                                      human_number(weight_bytes(shape, Precision::kBf16).value / 1e9),
                                      human_number(weight_bytes(shape, Precision::kFp8).value / 1e9)));
  text += line("KV cache per token",
               fmt::format("{} at bf16, {} at fp8", to_text(kv_bytes_per_token(shape, Precision::kBf16)),
                           to_text(kv_bytes_per_token(shape, Precision::kFp8))));
  text += line("source", model.source);
  return model.note.empty() ? text : text + line("note", model.note);
}

std::string engine_text(const EngineDefaults& defaults, const std::string& device) {
  Footnotes notes;
  std::string text =
      fmt::format("{} {}: arguments and their defaults on {}\n", defaults.kind, defaults.version, device);
  std::size_t width = 28;
  for (const EngineArg& arg : defaults.known) width = std::max(width, arg.name.size());
  for (const EngineArg& arg : defaults.known) {
    std::string value = arg.default_value.value_or(kMissing);
    if (!arg.modelled) value += ", no effect here";
    text += wrapped(fmt::format("  {:<{}}", arg.name, width + 2), notes.mark(value, arg.note, arg.source));
  }
  return text + kind_text(*engine_kind(defaults.kind), defaults.settings.args) + notes.text();
}

std::string price_text(const PriceEntry& price) {
  std::string text = fmt::format("{}: {} x {}\n", price.name(), price.count, price.device);
  text += line("accelerator", price.accelerator.empty() ? "not in the catalog" : price.accelerator);
  text += line("on demand", value_text(price.on_demand));
  text += line("per device", usd_per_hour(price.on_demand_per_device()));
  if (price.reserved) text += line("reserved, effective", value_text(price.reserved));
  text += line("spot", range_text(price.spot_lowest, price.spot_highest));
  if (price.claimed_lowest) text += line("claimed", range_text(price.claimed_lowest, price.claimed_highest));
  text += line("region", price.region.empty() ? kMissing : price.region);
  if (!price.claimed_lowest) text += line("date", "missing (the list carries none)");
  text += line("source", price.source);
  return price.note.empty() ? text : text + line("note", price.note);
}

}  // namespace poolcast
