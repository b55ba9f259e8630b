// SPDX-License-Identifier: Apache-2.0
// AIBrix's several strategies at once, "least-request:2,prefix-cache:1" (e3e10f9e): each one's metric, scaled from its
// least to its most over the replicas, times its weight; the highest sum, ties at random.
#include <algorithm>
#include <charconv>

#include "sim/routing/aliases.h"

namespace poolcast::routing {
namespace {

struct Strategy {
  std::string_view name, field;
  bool more_is_better;
};
constexpr Strategy kStrategies[] = {
    {"least-busy-time", "busy", false},    {"least-gpu-cache", "kv_usage", false},
    {"least-kv-cache", "kv_usage", false}, {"least-request", "in_flight_requests", false},
    {"least-utilization", "busy", false},  {"prefix-cache", "prefix_share", true}};

const Strategy& strategy_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Strategy& strategy : kStrategies) {
    if (strategy.name == name) return strategy;
    known.emplace_back(strategy.name);
  }
  throw ParameterFault({}, "no strategy of several is named \"" + std::string(name) + "\"", known);
}

double weight_of(std::string_view text) {
  double weight = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(weight > 0) || weight > 1e9) {
    throw ParameterFault({}, "a weight must be a number above 0, got \"" + std::string(text) + "\"");
  }
  return weight;
}

std::string scaled(const Strategy& s) {
  const std::string field(s.field), least = "pool.min_" + field, most = "pool.max_" + field;
  const std::string gain = s.more_is_better ? "endpoint." + field + " - " + least : most + " - endpoint." + field;
  return most + " > " + least + " ? (" + gain + ") / (" + most + " - " + least + ") : 1";
}

}  // namespace

PipelineSpec weighted_policy(std::string_view text) {
  PipelineSpec spec;
  spec.refs.emplace();
  for (bool more = true; more;) {
    const std::string_view part = text.substr(0, text.find(','));
    more = part.size() < text.size();
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t colon = part.find(':');
    const Strategy& strategy = strategy_named(part.substr(0, colon));
    const double weight = colon == std::string_view::npos ? 1 : weight_of(part.substr(colon + 1));
    for (const PluginSpec& plugin : spec.plugins) {
      if (plugin.name == strategy.name) throw ParameterFault({}, std::string(strategy.name) + " stands twice");
    }
    PluginSpec plugin = scored_by(scaled(strategy)).plugins.front();
    plugin.name = strategy.name;
    spec.refs->push_back({spec.plugins.size(), weight});
    spec.plugins.push_back(std::move(plugin));
  }
  complete_pipeline(spec);
  return spec;
}

}  // namespace poolcast::routing
