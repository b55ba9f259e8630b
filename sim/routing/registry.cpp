// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/registry.h"

#include <algorithm>

namespace poolcast::routing {

const std::vector<PluginInfo>& plugin_table() {
  static const std::vector<PluginInfo> table = [] {
    std::vector<PluginInfo> all;
    for (const auto add : {add_queue_scorers,   add_cache_scorers,  add_load_scorers,   add_lora_affinity,
                           add_no_hit_lru,      add_latency_scorer, add_context_length, add_utilization_filter,
                           add_prefix_affinity, add_slo_headroom,   add_label_filters,  add_session_affinity,
                           add_pickers,         add_detectors,      add_expressions,    add_lua,
                           add_hash_policies,   add_dynamo_kv,      add_rate_scorers,   add_choice_filters,
                           add_flow_policies,   add_handlers,       add_answer_policies}) {
      add(all);
    }
    std::sort(all.begin(), all.end(), [](const PluginInfo& a, const PluginInfo& b) { return a.type < b.type; });
    return all;
  }();
  return table;
}

const PluginInfo* find_plugin(std::string_view type) {
  for (const PluginInfo& info : plugin_table()) {
    if (info.type == type) return &info;
  }
  return nullptr;
}

const std::vector<std::string_view>& plugins_not_modelled() {
  static const std::vector<std::string_view> kTypes = {
      "data-parallel-profile-handler", "endpoint-attribute-filter",   "endpoint-attribute-scorer",
      "header-label-affinity-scorer",  "header-profile-handler",      "latency-slo-admitter",
      "mm-embeddings-cache-scorer",    "precise-prefix-cache-scorer", "precise-prefix-cache-producer",
      "predicted-latency-producer",    "probabilistic-admitter",      "token-producer",
      "topology-affinity-filter",      "topology-affinity-scorer"};
  return kTypes;
}

std::unique_ptr<Plugin> make_plugin(const PluginInfo& info, const Value& parameters, const BuildContext& context) {
  return info.make(Settings(info.parameters, parameters), context);
}

void need_metrics(const Endpoints& endpoints, std::span<const std::uint32_t> candidates) {
  if (endpoints.no_metrics.empty()) return;
  for (const std::uint32_t e : candidates) {
    if (endpoints.no_metrics[e] != 0) throw RoutingError("an endpoint has no metrics");
  }
}

}  // namespace poolcast::routing
