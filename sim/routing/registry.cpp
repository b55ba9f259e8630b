// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/registry.h"

#include <algorithm>

namespace poolcast::routing {

const std::vector<PluginInfo>& plugin_table() {
  static const std::vector<PluginInfo> table = [] {
    std::vector<PluginInfo> all;
    for (const auto add : {add_queue_scorers,   add_cache_scorers,  add_load_scorers,    add_lora_affinity,
                           add_no_hit_lru,      add_latency_scorer, add_context_length,  add_utilization_filter,
                           add_prefix_affinity, add_slo_headroom,   add_label_filters,   add_session_affinity,
                           add_pickers,         add_detectors,      add_expressions,     add_lua,
                           add_hash_policies,   add_dynamo_kv,      add_rate_scorers,    add_choice_filters,
                           add_flow_policies,   add_handlers,       add_answer_policies, add_length_buckets}) {
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

const std::vector<MissingPlugin>& plugins_not_modelled() {
  static const std::vector<MissingPlugin> kTypes = {
      {"data-parallel-profile-handler",
       "`layout: {dp: …}` makes the ranks, and `dp_balancer` of the engine chooses one"},
      {"endpoint-attribute-filter",
       "which attributes it compares, and how, is not published: by-label filters by labels"},
      {"endpoint-attribute-scorer", "which attributes it compares, and how, is not published: lua-scorer reads labels"},
      {"header-label-affinity-scorer",
       "requests here have no headers: session-affinity-scorer keeps sessions together"},
      {"header-profile-handler", "requests here have no headers: `routing.pools` gives each pool a profile of its own"},
      {"latency-slo-admitter",
       "which requests it sheds is not published: predicted-latency-producer with an expr-filter of "
       "\"endpoint.ttft_headroom_ms >= 0\" rejects those that no endpoint would serve in time"},
      {"mm-embeddings-cache-scorer", "requests here have no images or sounds"},
      {"probabilistic-admitter",
       "its probability is not published: flow control, or `quotas` of the gateway, turn requests away"},
      {"program-aware",
       "how it tells programs apart is not published: round-robin-fairness-policy takes entries of the workload in "
       "turn"},
      {"priority-holdback", "usage limits are not modelled: `maxRequests` of a priority band limits its queue"},
      {"soft-reflective-ceiling", "usage limits are not modelled: `maxRequests` of a priority band limits its queue"},
      {"static-usage", "usage limits are not modelled: `maxRequests` of a priority band limits its queue"},
      {"token-producer", "tokens are known here without it: leave it out"},
      {"topology-affinity-filter", "its labels and its rule are not published: by-label filters by labels"},
      {"topology-affinity-scorer", "its labels and its rule are not published: lua-scorer reads labels"}};
  return kTypes;
}

const MissingPlugin* find_missing_plugin(std::string_view type) {
  for (const MissingPlugin& missing : plugins_not_modelled()) {
    if (type.starts_with(missing.type)) return &missing;
  }
  return nullptr;
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
