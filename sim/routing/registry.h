// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sim/random.h"
#include "sim/routing/parameters.h"
#include "sim/routing/plugin.h"

namespace poolcast::routing {

/// What a plugin gets besides its parameters.
struct BuildContext {
  RandomStream random;
  /// Names of the plugins that fill the columns `prefix` and `in_flight_*`: a plugin that asks for another one's sees
  /// nothing there.
  std::string_view prefix_producer = "approx-prefix-cache-producer";
  std::string_view exact_producer = {};  ///< fills `prefix`, and the other `approximate`; empty: there is none
  std::string_view load_producer = "inflight-load-producer";
};

struct PluginInfo {
  std::string_view type;
  std::string_view family;  ///< "filter", "scorer", "picker", "detector", "handler", "producer",
                            ///< "flow order", "flow fairness", "decider"; or two with "and"
  std::string_view origin;  ///< whose name, formula and defaults these are
  std::string_view rule;    ///< what it does, in a sentence or a formula
  std::vector<ParameterInfo> parameters;
  /// Throws ParameterFault. Null: the pipeline itself does it (handlers, producers).
  std::unique_ptr<Plugin> (*make)(const Settings& settings, const BuildContext& context);

  bool is(std::string_view part) const { return family.find(part) != std::string_view::npos; }
};

/// Every plugin type, in alphabetical order.
const std::vector<PluginInfo>& plugin_table();
const PluginInfo* find_plugin(std::string_view type);  ///< null when there is none
/// What llm-d has and poolcast does not model, why, and what there is instead. `type` may be how a type begins.
struct MissingPlugin {
  std::string_view type, why;
};
const std::vector<MissingPlugin>& plugins_not_modelled();
const MissingPlugin* find_missing_plugin(std::string_view type);  ///< null when it is none of them

/// Throws ParameterFault. `info.make` is not null.
std::unique_ptr<Plugin> make_plugin(const PluginInfo& info, const Value& parameters, const BuildContext& context);

template <class T>
std::unique_ptr<Plugin> make_simple(const Settings&, const BuildContext&) {
  return std::make_unique<T>();
}
template <class T>
std::unique_ptr<Plugin> make_of_settings(const Settings& settings, const BuildContext&) {
  return std::make_unique<T>(settings);
}
template <class T>
std::unique_ptr<Plugin> make_of_both(const Settings& settings, const BuildContext& context) {
  return std::make_unique<T>(settings, context);
}

/// Of precise-prefix-cache-producer, and of its scorer, in which older files state them.
std::vector<ParameterInfo> precise_parameters();

// One file a family: each adds its lines to the table.
void add_queue_scorers(std::vector<PluginInfo>& table);
void add_cache_scorers(std::vector<PluginInfo>& table);
void add_load_scorers(std::vector<PluginInfo>& table);
void add_lora_affinity(std::vector<PluginInfo>& table);
void add_no_hit_lru(std::vector<PluginInfo>& table);
void add_latency_scorer(std::vector<PluginInfo>& table);
void add_context_length(std::vector<PluginInfo>& table);
void add_utilization_filter(std::vector<PluginInfo>& table);
void add_prefix_affinity(std::vector<PluginInfo>& table);
void add_slo_headroom(std::vector<PluginInfo>& table);
void add_label_filters(std::vector<PluginInfo>& table);
void add_session_affinity(std::vector<PluginInfo>& table);
void add_pickers(std::vector<PluginInfo>& table);
void add_detectors(std::vector<PluginInfo>& table);
void add_expressions(std::vector<PluginInfo>& table);
void add_lua(std::vector<PluginInfo>& table);
void add_flow_policies(std::vector<PluginInfo>& table);
void add_hash_policies(std::vector<PluginInfo>& table);
void add_dynamo_kv(std::vector<PluginInfo>& table);
void add_rate_scorers(std::vector<PluginInfo>& table);
void add_answer_policies(std::vector<PluginInfo>& table);
void add_choice_filters(std::vector<PluginInfo>& table);
void add_length_buckets(std::vector<PluginInfo>& table);
void add_handlers(std::vector<PluginInfo>& table);

}  // namespace poolcast::routing
