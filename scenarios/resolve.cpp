// SPDX-License-Identifier: Apache-2.0
#include "scenarios/resolve.h"
#include "scenarios/endpoint_picker_config.h"

#include <fmt/format.h>

#include <filesystem>

#include "scenarios/digest.h"
#include "scenarios/endpoint_picker_config.h"
#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {

void write_figures(YamlWriter& yaml, const Accelerator& accelerator) {
  yaml.open("accelerator");
  yaml.text("name", accelerator.name);
  if (!accelerator.title.empty()) yaml.text("title", accelerator.title);
  if (!accelerator.vendor.empty()) yaml.text("vendor", accelerator.vendor);
  if (!accelerator.family.empty()) yaml.text("family", accelerator.family);
  yaml.value("kind", name(accelerator.kind));
  const auto figure = [&](const char* key, const auto& sourced) {
    if (sourced.value) yaml.value(key, to_text(*sourced.value));
  };
  for (Precision precision : kPrecisions) figure(name(precision), accelerator.peak_of(precision));
  figure("memory", accelerator.memory);
  figure("addressable_memory", accelerator.addressable_memory);
  figure("memory_bandwidth", accelerator.memory_bandwidth);
  figure("tdp", accelerator.tdp);
  figure("link_bandwidth", accelerator.link_bandwidth);
  yaml.close();
}

void write_shape(YamlWriter& yaml, const TransformerShape& shape) {
  const auto size = [&](const char* key, std::int64_t value) { yaml.value(key, std::to_string(value)); };
  yaml.open("shape");
  yaml.text("name", shape.name);
  size("layers", shape.layers);
  size("hidden", shape.hidden);
  size("heads", shape.heads);
  size("kv_heads", shape.kv_heads);
  size("head_dim", shape.head_dim);
  size("intermediate", shape.intermediate);
  size("vocab", shape.vocab);
  size("mlp_matrices", shape.mlp_matrices);
  yaml.value("tied_embeddings", shape.tied_embeddings ? "true" : "false");
  size("context_limit", shape.context_limit);
  if (shape.moe) {
    yaml.open("moe");
    size("experts", shape.moe->experts);
    size("experts_per_token", shape.moe->experts_per_token);
    size("intermediate", shape.moe->intermediate);
    size("shared_experts", shape.moe->shared_experts);
    size("first_dense_layers", shape.moe->first_dense_layers);
    yaml.close();
  }
  if (shape.mla) {
    yaml.open("mla");
    size("q_lora_rank", shape.mla->q_lora_rank);
    size("kv_lora_rank", shape.mla->kv_lora_rank);
    size("qk_nope_head_dim", shape.mla->qk_nope_head_dim);
    size("qk_rope_head_dim", shape.mla->qk_rope_head_dim);
    size("v_head_dim", shape.mla->v_head_dim);
    yaml.close();
  }
  yaml.close();
}

std::string limit_text(std::int64_t limit) { return limit == INT64_MAX ? "none" : std::to_string(limit); }

namespace {

void write_topology(YamlWriter& yaml, const Scenario& scenario) {
  const TopologyEntry& topology = scenario.topology;
  if (topology.links.empty() && topology.switches.empty()) return;
  const Topology graph = topology.graph(scenario.pools);
  yaml.open("topology");
  yaml.value("switches", fmt::format("[{}]", fmt::join(topology.switches, ", ")));
  yaml.open("links");
  for (const Link& link : topology.links) {
    yaml.open_item();
    yaml.value("between", fmt::format("[{}, {}]", graph.nodes()[link.a], graph.nodes()[link.b]));
    yaml.value("bandwidth", to_text(link.bandwidth));
    yaml.value("latency", to_text(link.latency));
    yaml.close_item();
  }
  yaml.close();
  yaml.close();
}

void write_routing(YamlWriter& yaml, const Scenario& scenario) {
  const RoutingEntry& routing = scenario.routing;
  yaml.open("routing");
  write_gateway(yaml, scenario);
  yaml.open("pools");
  for (std::size_t i = 0; i < scenario.pools.size(); ++i) {
    const auto& picker = routing.pool_pickers[i];
    std::string text = picker ? "config: " + endpoint_picker_text(*picker) : "policy: " + routing.pool_policies[i];
    const SignalSpec& signals = routing.pool_signals[i];
    if (signals != SignalSpec()) text += ", signals: " + signals_text(signals, picker && reads_busy(*picker));
    yaml.value(scenario.pools[i].name, "{" + text + "}");
  }
  yaml.close();
  yaml.close();
}

void write_measure(YamlWriter& yaml, const MeasureSpec& measure) {
  yaml.open("measure");
  yaml.value("warm_up",
             fmt::format("{{time: {}, requests: {}}}", time_text(measure.warm_up), measure.warm_up_requests));
  yaml.value("until", time_text(measure.until));
  yaml.close();
}

std::string resolved(const Scenario& scenario, Resolve mode) {
  YamlWriter yaml;
  yaml.value("version", "1");
  yaml.value("seed", std::to_string(scenario.seed));
  yaml.open("workload");
  for (const WorkloadEntry& entry : scenario.workload) write_workload_entry(yaml, entry, mode);
  yaml.close();
  yaml.open("models");
  for (const LogicalModel& model : scenario.models) write_model(yaml, model);
  yaml.close();
  yaml.open("pools");
  for (const PoolEntry& pool : scenario.pools) write_pool(yaml, pool, mode);
  yaml.close();
  write_topology(yaml, scenario);
  write_routing(yaml, scenario);
  write_moves(yaml, scenario);
  write_measure(yaml, scenario.measure);
  return yaml.result();
}

}  // namespace

std::string resolved_yaml(const Scenario& scenario) { return resolved(scenario, Resolve::kForReading); }

std::string identity_yaml(const Scenario& scenario) { return resolved(scenario, Resolve::kForDigest); }

std::string scenario_digest(const Scenario& scenario) { return sha256(identity_yaml(scenario)); }

}  // namespace poolcast
