// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "scenarios/endpoint_picker_config.h"
#include "scenarios/include.h"
#include "scenarios/load_gateway.h"
#include "scenarios/load_parts.h"
#include "sim/policies/registry.h"
#include "sim/routing/aliases.h"
#include "sim/routing/spellings.h"
#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

using Pools = std::span<const PoolEntry>;

std::vector<std::string_view> registered_names() {
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policy_table()) names.push_back(policy.name);
  return names;
}

/// Where the pipeline asks engines what their prefix caches hold, those of the pool must have one.
void check_kv_events(const YamlNode& at, const routing::PipelineSpec& picker, const PoolEntry& pool) {
  if (!routing::exact_producer(picker) || block_size(pool.engine.settings.args) > 0) return;
  at.fail(fmt::format("asks engines what their prefix caches hold, and those of pool {} ({}) have none", pool.name,
                      pool.engine.kind));
}

/// The plugin in an EndpointPickerConfig for which engines must tell.
YamlNode exact_plugin(const YamlNode& config) {
  if (const auto plugins = config.find("plugins")) {
    for (const YamlNode& plugin : plugins->items()) {
      const auto type = plugin.find("type");
      if (type && type->text().find("precise-prefix-cache") == 0) return *type;
    }
  }
  return config;
}

/// How a pool chooses a replica: by a named policy or by an endpoint picker.
struct PoolRouting {
  std::string policy;
  std::shared_ptr<const routing::PipelineSpec> picker;
  SignalSpec signals{};
  std::optional<YamlNode> config{};  ///< of a picker, which depends on the role of the pool
};

/// An EndpointPickerConfig, in place or in a file of its own: beside the scenario, else in the working folder.
std::shared_ptr<const routing::PipelineSpec> load_picker(const YamlNode& node, const PoolEntry& pool,
                                                         const LoadContext& context) {
  std::vector<std::string> notes;
  YamlNode config = node;
  if (node.is_scalar()) {
    if (node.text().empty()) node.fail("a file name cannot be empty");
    std::error_code ignored;
    const std::string beside = folder_of(node, context.folder) + node.text();
    const bool there = node.text()[0] != '/' && std::filesystem::exists(beside, ignored);
    const std::string& path = there ? beside : node.text();
    context.reads("endpoint picker", path);
    config = load_yaml_file(path);
  }
  auto picker = std::make_shared<routing::PipelineSpec>(load_endpoint_picker(config, notes, pool.role));
  check_kv_events(exact_plugin(config), *picker, pool);
  for (std::string& note : notes) {  // several pools may share a file
    const auto told = std::find(context.notes.begin(), context.notes.end(), note);
    if (told == context.notes.end()) context.notes.push_back(std::move(note));
  }
  return picker;
}

/// Requests wait before the pool that decodes, and a pool that only prefills takes what goes there.
std::shared_ptr<const routing::PipelineSpec> without_flow(std::shared_ptr<const routing::PipelineSpec> picker) {
  if (!picker || !picker->flow) return picker;
  auto copy = std::make_shared<routing::PipelineSpec>(*picker);
  copy->flow.reset();
  return copy;
}

/// A policy of ours, or another product's as a pipeline. `entry` is what names it.
PoolRouting load_pool_policy(const YamlNode& node, const YamlNode& entry, const PoolRouting& otherwise, Pools pools) {
  if (node.is_scalar() && node.text().find(':') != std::string::npos && !entry.find("parameters")) {
    return {
        otherwise.policy, std::make_shared<routing::PipelineSpec>(load_weighted_policy(node)), otherwise.signals, {}};
  }
  std::vector<std::string_view> names = registered_names();
  for (const routing::PolicyAlias& alias : routing::policy_aliases()) names.push_back(alias.name);
  if (node.is_scalar()) {
    const std::string_view name = routing::policy_name(node.text());
    if (const auto* missing = routing::find_missing_policy(name)) node.fail(not_modelled(*missing));
    if (is_of_gateway(name)) node.fail(node.text() + " chooses among pools: it is a policy of `routing.gateway`");
  }
  const std::size_t chosen = choose_policy(node, names);
  const bool is_ours = chosen < policy_table().size();
  if (is_ours && entry.find("parameters")) {
    MappingReader(entry).fail_at_key("parameters", fmt::format("the policy {} has none", names[chosen]));
  }
  if (is_ours) return {read_policy(node, registered_names(), pools), nullptr, otherwise.signals, {}};
  const routing::PolicyAlias& alias = routing::policy_aliases()[chosen - policy_table().size()];
  const auto picker = std::make_shared<routing::PipelineSpec>(load_alias(alias, entry));
  for (const PoolEntry& pool : pools) check_kv_events(node, *picker, pool);
  return {otherwise.policy, picker, otherwise.signals, {}};
}

/// `pool: {policy: X}` or an entry of `pools`; `otherwise` where it says neither.
PoolRouting load_pool_routing(const YamlNode& node, const PoolRouting& otherwise, Pools pools) {
  MappingReader reader(node);
  const auto policy = reader.optional("policy");
  const auto config = reader.optional("config");
  const auto signals = reader.optional("signals");
  const auto parameters = reader.optional("parameters");
  if (parameters && !policy) reader.fail_at_key("parameters", "are those of a policy, and none is named beside them");
  reader.not_modelled_yet({"weights"});
  reader.finish();
  if (policy && config) {
    reader.fail_at_key("config", "stands beside \"policy\", and only one of them can decide");
  }
  PoolRouting routing = policy ? load_pool_policy(*policy, node, otherwise, pools) : otherwise;
  if (config) routing.config = *config;
  if (signals) routing.signals = load_signals(*signals, otherwise.signals);
  return routing;
}

}  // namespace

RoutingEntry load_routing(const YamlNode& node, const std::vector<LogicalModel>& models,
                          const std::vector<PoolEntry>& pools, const LoadContext& context) {
  RoutingEntry routing;
  PoolRouting every{routing.gateway_policy, nullptr, {}, {}};
  MappingReader reader(node);
  if (const auto both = reader.optional("policy")) {
    routing.gateway_policy = every.policy = read_policy(*both, registered_names(), pools);
  }
  if (const auto gateway = reader.optional("gateway")) load_gateway(*gateway, models, pools, routing);
  if (const auto signals = reader.optional("signals")) every.signals = load_signals(*signals, {});
  if (const auto pool = reader.optional("pool")) every = load_pool_routing(*pool, every, pools);
  std::vector<PoolRouting> by_pool(pools.size(), every);
  if (const auto each = reader.optional("pools")) {
    MappingReader parts(*each);
    for (std::size_t i = 0; i < pools.size(); ++i) {
      const auto entry = parts.optional(pools[i].name);
      if (entry) by_pool[i] = load_pool_routing(*entry, every, Pools(pools).subspan(i, 1));
    }
    parts.finish();
  }
  reader.not_modelled_yet({"config", "flow_control"});
  reader.finish();
  for (std::size_t i = 0; i < pools.size(); ++i) {
    PoolRouting& pool = by_pool[i];
    if (pool.config) pool.picker = load_picker(*pool.config, pools[i], context);
    if (pools[i].role == PoolRole::kPrefill) pool.picker = without_flow(pool.picker);
    const std::string& kind = pools[i].engine.kind;
    if (pool.picker && predicts_latency(*pool.picker) && (kind == "triton" || kind == "session")) {
      node.fail(fmt::format("TTFT and TPOT are predicted where tokens come one by one, and pool {} runs {}",
                            pools[i].name, kind));
    }
    routing.pool_policies.push_back(pool.policy);
    routing.pool_pickers.push_back(pool.picker);
    if (!pool.picker || !reads_busy(*pool.picker)) {
      pool.signals.busy = SignalSpec().busy;
      pool.signals.busy_window = SignalSpec().busy_window;
    }
    routing.pool_signals.push_back(pool.signals);
  }
  return routing;
}

}  // namespace poolcast
