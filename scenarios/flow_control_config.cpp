// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "scenarios/endpoint_picker_parts.h"
#include "scenarios/yaml_writer.h"
#include "sim/routing/registry.h"

namespace poolcast {
namespace {

using routing::PipelineSpec;
using routing::PluginInfo;

constexpr const char* kGate = "flowControl";
constexpr const char* kOrders[] = {"fcfs-ordering-policy", "edf-ordering-policy", "slo-deadline-ordering-policy"};
constexpr const char* kFairness[] = {"global-strict-fairness-policy", "round-robin-fairness-policy"};
constexpr double kMostOfAnything = 1e18;

/// A quantity of Kubernetes: 5000, 1G, 512Mi.
std::int64_t read_quantity(const YamlNode& node) {
  const std::string& text = node.text();
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::vector<std::string_view> units = {"", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"};
  const double factors[] = {1, 1e3, 1e6, 1e9, 1e12, 1024, 1048576, 1073741824, 1099511627776};
  const auto unit = std::find(units.begin(), units.end(), std::string_view(text).substr(end));
  double value = 0;
  if (unit == units.end() || end == 0 || std::sscanf(text.c_str(), "%lf", &value) != 1) {
    node.fail(fmt::format("{} is no quantity of Kubernetes", quote(text)), "such as 5000, 1G or 512Mi");
  }
  value *= factors[unit - units.begin()];
  if (value != std::floor(value) || value > kMostOfAnything) node.fail("must be a whole number up to 10^18");
  return static_cast<std::int64_t>(value);
}

/// 0, as in llm-d, is the default.
std::int64_t read_limit(MappingReader& reader, const char* key, std::int64_t standard) {
  const auto node = reader.optional(key);
  const std::int64_t limit = node ? read_quantity(*node) : 0;
  return limit == 0 ? standard : limit;
}

/// The type that a reference names: that of a listed plugin, or a type by its own name.
std::string type_of(const YamlNode& ref, const PipelineSpec& spec, std::string_view family) {
  for (const routing::PluginSpec& plugin : spec.plugins) {
    if (plugin.name != ref.text()) continue;
    if (routing::find_plugin(plugin.type)->is(family)) return plugin.type;
    ref.fail(fmt::format("{} is no {}", quote(ref.text()), family));
  }
  std::vector<std::string_view> types;
  for (const PluginInfo& info : routing::plugin_table()) {
    if (!info.is(family)) continue;
    if (info.type == ref.text()) return std::string(info.type);
    types.push_back(info.type);
  }
  ref.fail(fmt::format("there is no {} named {}", family, quote(ref.text())), spelling_hint(ref.text(), types));
}

template <class Choice, std::size_t kCount>
void read_policy(MappingReader& reader, const char* key, const PipelineSpec& spec, std::string_view family,
                 const char* const (&types)[kCount], Choice& choice) {
  const auto ref = reader.optional(key);
  if (!ref) return;
  const std::string type = type_of(*ref, spec, family);
  choice = static_cast<Choice>(std::find(types, types + kCount, type) - types);
}

FlowBand read_band(const YamlNode& node, bool with_priority, const PipelineSpec& spec) {
  FlowBand band;
  MappingReader reader(node);
  if (with_priority)
    band.priority = static_cast<std::int32_t>(reader.required("priority").integer(-2147483647, 2147483647));
  band.max_bytes = read_limit(reader, "maxBytes", band.max_bytes);
  band.max_requests = read_limit(reader, "maxRequests", band.max_requests);
  read_policy(reader, "orderingPolicyRef", spec, "flow order", kOrders, band.order);
  read_policy(reader, "fairnessPolicyRef", spec, "flow fairness", kFairness, band.fairness);
  reader.finish();
  return band;
}

void read_bands(const YamlNode& list, const PipelineSpec& spec, FlowControlSpec& flow) {
  for (const YamlNode& item : list.items()) {
    const FlowBand band = read_band(item, true, spec);
    for (const FlowBand& other : flow.bands) {
      if (other.priority != band.priority) continue;
      item.find("priority")->fail(fmt::format("there is a band of priority {} already", band.priority));
    }
    flow.bands.push_back(band);
  }
}

/// A duration of Go; 0 is none.
SimTime read_ttl(const YamlNode& node) {
  const double ms = routing::parse_duration_ms(node.text());
  if (!(ms >= 0) || ms > 1e15) node.fail(fmt::format("{} is no duration", quote(node.text())), "such as 60s or 500ms");
  return ms == 0 ? kNever : to_sim_time(Seconds(ms / 1e3));
}

/// A listed detector, or one by its type with the type's defaults, which is then listed.
std::size_t read_detector(const YamlNode& node, PipelineSpec& spec) {
  MappingReader reader(node);
  const YamlNode ref = reader.required("pluginRef");
  reader.finish();
  for (std::size_t i = 0; i < spec.plugins.size(); ++i) {
    if (spec.plugins[i].name != ref.text()) continue;
    if (routing::find_plugin(spec.plugins[i].type)->is("detector")) return i;
    ref.fail(fmt::format("{} is no saturation detector", quote(ref.text())));
  }
  if (const PluginInfo* info = routing::find_plugin(ref.text()); info == nullptr || !info->is("detector")) {
    return read_plugin_ref(ref, spec);  // which says what there is
  }
  spec.plugins.push_back({ref.text(), ref.text(), {}});
  return spec.plugins.size() - 1;
}

/// What stands for the detector where none is named.
std::size_t standard_detector(PipelineSpec& spec) {
  constexpr const char* kType = "utilization-detector";
  for (std::size_t i = 0; i < spec.plugins.size(); ++i) {
    if (spec.plugins[i].type == kType) return i;
  }
  spec.plugins.push_back({kType, kType, {}});
  return spec.plugins.size() - 1;
}

FlowControlSpec read_flow(const YamlNode& node, PipelineSpec& spec, std::optional<std::size_t>& detector) {
  FlowControlSpec flow;
  MappingReader reader(node);
  flow.max_bytes = read_limit(reader, "maxBytes", flow.max_bytes);
  flow.max_requests = read_limit(reader, "maxRequests", flow.max_requests);
  if (const auto ttl = reader.optional("defaultRequestTTL")) flow.ttl = read_ttl(*ttl);
  if (const auto ttl = reader.optional("noEndpointRequestTTL")) read_ttl(*ttl);  // a pool always has endpoints
  if (const auto band = reader.optional("defaultPriorityBand")) flow.other = read_band(*band, false, spec);
  if (const auto band = reader.optional("defaultNegativePriorityBand")) {
    flow.other_negative = read_band(*band, false, spec);
  }
  if (const auto bands = reader.optional("priorityBands")) read_bands(*bands, spec, flow);
  if (const auto choice = reader.optional("saturationDetector")) detector = read_detector(*choice, spec);
  if (const auto eviction = reader.optional("enableEviction"); eviction && eviction->boolean()) {
    eviction->fail("eviction of requests that run is not modelled: `timeout` and `patience` of a class end them");
  }
  if (reader.has("usageLimitPolicyPluginRef")) {
    reader.fail_at_key("usageLimitPolicyPluginRef",
                       "usage limits are not modelled: `maxRequests` of a priority band limits its queue");
  }
  reader.finish();
  return flow;
}

bool read_gates(MappingReader& root, std::vector<std::string>& others) {
  bool on = false;
  const auto gates = root.optional("featureGates");
  if (!gates) return on;
  for (const YamlNode& gate : gates->items()) {
    if (gate.text() == kGate) {
      on = true;
    } else {
      others.push_back("feature gate " + gate.text());
    }
  }
  return on;
}

std::string limits_text(std::int64_t bytes, std::int64_t requests) {
  return fmt::format("maxBytes: {}, maxRequests: {}", bytes == INT64_MAX ? 0 : bytes,
                     requests == INT64_MAX ? 0 : requests);
}

std::string band_text(const FlowBand& band) {
  return fmt::format("{}, orderingPolicyRef: {}, fairnessPolicyRef: {}", limits_text(band.max_bytes, band.max_requests),
                     kOrders[static_cast<std::size_t>(band.order)], kFairness[static_cast<std::size_t>(band.fairness)]);
}

}  // namespace

void read_flow_control(MappingReader& root, PipelineSpec& spec, std::vector<std::string>& notes) {
  std::vector<std::string> unused;
  const bool on = read_gates(root, unused);
  std::optional<std::size_t> detector;
  if (const auto choice = root.optional("saturationDetector")) detector = read_detector(*choice, spec);
  std::optional<FlowControlSpec> flow;
  if (const auto node = root.optional(kGate)) flow = read_flow(*node, spec, detector);
  if (on) {
    spec.flow = flow.value_or(FlowControlSpec());
    spec.flow->detector = detector ? *detector : standard_detector(spec);
  } else if (flow) {
    notes.push_back("endpoint picker: flowControl is off, as in llm-d, until featureGates lists it");
  } else if (detector) {
    unused.emplace_back("saturationDetector");
  }
  for (const char* key : {"requestHandler", "dataLayer"}) {
    if (root.optional(key)) unused.emplace_back(key);
  }
  if (unused.empty()) return;
  notes.push_back(fmt::format("endpoint picker: read and without effect here: {}", fmt::join(unused, ", ")));
}

std::string flow_control_text(const PipelineSpec& spec) {
  if (!spec.flow) return "";
  const FlowControlSpec& flow = *spec.flow;
  std::vector<std::string> bands;
  for (const FlowBand& band : flow.bands) {
    bands.push_back(fmt::format("{{priority: {}, {}}}", band.priority, band_text(band)));
  }
  const std::string ttl = flow.ttl == kNever ? "0s" : routing::shortest(static_cast<double>(flow.ttl) / 1e6) + "ms";
  return fmt::format(
      ", featureGates: [{}], flowControl: {{{}, defaultRequestTTL: {}, defaultPriorityBand: {{{}}}, "
      "defaultNegativePriorityBand: {{{}}}, priorityBands: {}, saturationDetector: {{pluginRef: {}}}}}",
      kGate, limits_text(flow.max_bytes, flow.max_requests), ttl, band_text(flow.other), band_text(flow.other_negative),
      flow_list(bands), yaml_text(spec.plugins[flow.detector].name));
}

}  // namespace poolcast
