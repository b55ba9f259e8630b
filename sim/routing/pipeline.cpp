// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/pipeline.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

const PluginInfo& info_of(const PluginSpec& plugin) { return *find_plugin(plugin.type); }

bool has_type(const PipelineSpec& spec, std::string_view type) {
  return std::any_of(spec.plugins.begin(), spec.plugins.end(), [&](const PluginSpec& p) { return p.type == type; });
}

std::size_t add_plugin(PipelineSpec& spec, const std::string& type) {
  std::string name = type;
  const auto taken = [&](const PluginSpec& p) { return p.name == name; };
  while (std::any_of(spec.plugins.begin(), spec.plugins.end(), taken)) name += "-default";
  spec.plugins.push_back({name, type, {}});
  return spec.plugins.size() - 1;
}

std::vector<PipelineSpec::Ref> built_in_profile(PipelineSpec& spec) {
  std::vector<PipelineSpec::Ref> refs;
  refs.push_back({add_plugin(spec, "queue-scorer"), 2});
  refs.push_back({add_plugin(spec, "kv-cache-utilization-scorer"), 2});
  refs.push_back({add_plugin(spec, "prefix-cache-scorer"), 3});
  return refs;
}

/// A profile of every plugin that can stand in one.
std::vector<PipelineSpec::Ref> profile_of_all(const PipelineSpec& spec) {
  std::vector<PipelineSpec::Ref> refs;
  for (std::size_t i = 0; i < spec.plugins.size(); ++i) {
    const PluginInfo& info = info_of(spec.plugins[i]);
    const bool fits = info.is("filter") || info.is("scorer") || info.is("picker");
    if (fits && !info.is("detector")) refs.push_back({i, 1});
  }
  return refs;
}

std::string_view producer_name(const PipelineSpec& spec, std::string_view type) {
  for (const PluginSpec& plugin : spec.plugins) {
    if (plugin.type == type) return plugin.name;
  }
  return type;
}

constexpr const char* kPrefixProducer = "approx-prefix-cache-producer";
constexpr const char* kExactProducer = "precise-prefix-cache-producer";
constexpr const char* kLoadProducer = "inflight-load-producer";

/// Whether a prefix-cache-scorer asks for the producer of this type.
bool asks_for(const PipelineSpec& spec, std::string_view producer) {
  return std::any_of(spec.plugins.begin(), spec.plugins.end(), [&](const PluginSpec& plugin) {
    if (plugin.type != "prefix-cache-scorer") return false;
    const Settings settings(info_of(plugin).parameters, plugin.parameters);
    return settings.text("prefixMatchInfoProducerName") == producer_name(spec, producer);
  });
}

}  // namespace

void complete_pipeline(PipelineSpec& spec) {
  if (!spec.refs) {
    auto refs = profile_of_all(spec);
    spec.refs = refs.empty() ? built_in_profile(spec) : std::move(refs);
  }
  const auto picks = [&](const PipelineSpec::Ref& ref) { return info_of(spec.plugins[ref.plugin]).is("picker"); };
  if (std::none_of(spec.refs->begin(), spec.refs->end(), picks)) {
    const auto listed = std::find_if(spec.plugins.begin(), spec.plugins.end(),
                                     [](const PluginSpec& p) { return p.type == "max-score-picker"; });
    const auto place = static_cast<std::size_t>(listed - spec.plugins.begin());
    spec.refs->push_back({listed != spec.plugins.end() ? place : add_plugin(spec, "max-score-picker"), 1});
  }
  const bool handled = std::any_of(spec.plugins.begin(), spec.plugins.end(),
                                   [](const PluginSpec& p) { return info_of(p).is("handler"); });
  if (!handled) add_plugin(spec, "single-profile-handler");
  const bool exact = has_type(spec, "precise-prefix-cache-scorer") || asks_for(spec, kExactProducer);
  if (exact && !has_type(spec, kExactProducer)) add_plugin(spec, kExactProducer);
  const bool approximate = !has_type(spec, kExactProducer) || asks_for(spec, kPrefixProducer);
  if (approximate && !has_type(spec, kPrefixProducer)) add_plugin(spec, kPrefixProducer);
  if (!has_type(spec, kLoadProducer)) add_plugin(spec, kLoadProducer);
}

std::optional<std::size_t> exact_producer(const PipelineSpec& spec) {
  for (std::size_t i = 0; i < spec.plugins.size(); ++i) {
    if (spec.plugins[i].type == kExactProducer) return i;
  }
  return std::nullopt;
}

std::optional<PrefixIndex::Options> prefix_options(const PipelineSpec& spec) {
  std::optional<PrefixIndex::Options> found;
  for (const PluginSpec& plugin : spec.plugins) {
    if (plugin.type != kPrefixProducer) continue;
    PrefixIndex::Options& options = found.emplace();
    const Settings settings(info_of(plugin).parameters, plugin.parameters);
    options.auto_tune = settings.boolean("autoTune");
    options.block_size = settings.integer("blockSizeTokens");
    options.most_blocks = settings.integer("maxPrefixBlocksToMatch");
    options.most_tokens = settings.integer("maxPrefixTokensToMatch");
    options.capacity = settings.integer("lruCapacityPerServer");
  }
  return found;
}

bool predicts_latency(const PipelineSpec& spec) { return has_type(spec, "predicted-latency-producer"); }

bool reads_busy(const PipelineSpec& spec) {
  return std::any_of(spec.plugins.begin(), spec.plugins.end(), [](const PluginSpec& plugin) {
    const auto& values = plugin.parameters.items;
    return std::any_of(values.begin(), values.end(),
                       [](const Value& value) { return value.text.find("busy") != std::string::npos; });
  });
}

Pipeline::Pipeline(const PipelineSpec& spec, std::uint64_t seed, const std::string& stream)
    : profile_(RandomStream(seed, stream + "/order")) {
  std::map<std::size_t, Plugin*> made;  // only what the profile runs, and the detector
  const auto make = [&](std::size_t index) -> Plugin& {
    const PluginSpec& plugin = spec.plugins[index];
    Plugin*& place = made[index];
    if (place == nullptr) {
      const auto exact = exact_producer(spec);
      const BuildContext context{RandomStream(seed, stream + "/" + plugin.name), producer_name(spec, kPrefixProducer),
                                 exact ? std::string_view(spec.plugins[*exact].name) : std::string_view(),
                                 producer_name(spec, kLoadProducer)};
      plugins_.push_back(make_plugin(info_of(plugin), plugin.parameters, context));
      names_.push_back(plugin.name);
      place = plugins_.back().get();
      if (auto* listener = dynamic_cast<Listener*>(place)) listeners_.push_back(listener);
    }
    return *place;
  };
  for (const PipelineSpec::Ref& ref : *spec.refs)
    profile_.add(make(ref.plugin), ref.weight, spec.plugins[ref.plugin].name);
  if (spec.flow) detector_ = &dynamic_cast<Detector&>(make(spec.flow->detector));
}

double Pipeline::saturation(const Endpoints& endpoints, std::span<const std::uint32_t> open) {
  return detector_ == nullptr ? 0 : detector_->saturation(endpoints, open);
}

std::vector<std::pair<std::string, ScriptFaults>> Pipeline::script_faults() const {
  std::vector<std::pair<std::string, ScriptFaults>> list;
  for (std::size_t i = 0; i < plugins_.size(); ++i) {
    if (const ScriptFaults* faults = plugins_[i]->faults()) list.emplace_back(names_[i], *faults);
  }
  return list;
}

void Pipeline::bind(const Endpoints& endpoints) {
  for (const auto& plugin : plugins_) plugin->bind(endpoints);
}

Decision Pipeline::decide(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> open) {
  Decision decision;
  const auto picked = profile_.run(request, endpoints, open);
  if (picked.empty()) return decision;
  decision.endpoint = picked.front();
  for (const auto& plugin : plugins_) plugin->decided(request, decision);
  return decision;
}

}  // namespace poolcast::routing
