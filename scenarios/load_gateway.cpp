// SPDX-License-Identifier: Apache-2.0
#include "scenarios/load_gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenarios/load_gateway_parts.h"
#include "scenarios/load_parts.h"
#include "scenarios/units.h"
#include "sim/policies/registry.h"
#include "sim/routing/spellings.h"

namespace poolcast {

const std::vector<GatewayPolicy>& gateway_policies() {
  static const std::vector<GatewayPolicy> kPolicies = {
      {"cost-based", "random", "the cheapest pool per token; LiteLLM's cost-based-routing"},
      {kDeviceAware, "least-request",
       "the fewest requests in flight over (replicas * weight of a replica), ties at random; a pool without a weight "
       "of "
       "its own weighs 8, on CPUs 1, as a canary 0; Dynamo"},
      {"least-busy", "least-request", "least-request under LiteLLM's name"},
      {"priority-failover", "weighted",
       "by weight among the pools of the first priority that has an open one; Envoy AI Gateway, LiteLLM's order"},
      {"simple-shuffle", "weighted", "weighted under LiteLLM's name"},
  };
  return kPolicies;
}

std::string_view registered_policy(std::string_view gateway_policy) {
  for (const GatewayPolicy& policy : gateway_policies()) {
    if (policy.name == gateway_policy) return policy.chooses_by;
  }
  return gateway_policy;
}

bool is_of_gateway(std::string_view policy) {
  const auto& all = gateway_policies();
  return std::any_of(all.begin(), all.end(), [&](const GatewayPolicy& p) { return p.name == policy; });
}

std::size_t choose_policy(const YamlNode& node, const std::vector<std::string_view>& names) {
  if (!node.is_scalar()) return node.choice(names);
  const auto found = std::find(names.begin(), names.end(), routing::policy_name(node.text()));
  return found == names.end() ? node.choice(names) : static_cast<std::size_t>(found - names.begin());
}

/// Those of vLLM read its engines' own signals.
std::string read_policy(const YamlNode& node, const std::vector<std::string_view>& names,
                        std::span<const PoolEntry> pools) {
  const std::string_view name = names[choose_policy(node, names)];
  for (const PoolEntry& pool : pools) {
    if (name.substr(0, 4) != "vllm" || pool.engine.kind == "vllm") continue;
    node.fail(fmt::format("{} reads the signals of vLLM, and pool {} runs {}", name, pool.name, pool.engine.kind));
  }
  return std::string(name);
}

PoolId find_pool(const YamlNode& node, const std::vector<PoolEntry>& pools) {
  std::vector<std::string_view> names;
  for (const PoolEntry& pool : pools) names.push_back(pool.name);
  const auto found = std::find(names.begin(), names.end(), node.text());
  if (found == names.end()) node.fail("no pool is named " + quote(node.text()), spelling_hint(node.text(), names));
  const auto index = static_cast<std::size_t>(found - names.begin());
  if (pools[index].role == PoolRole::kPrefill) node.fail("the rules of the gateway do not reach pools that prefill");
  return PoolId(index);
}

ModelId find_model(const YamlNode& node, const std::vector<LogicalModel>& models) {
  std::vector<std::string_view> names;
  for (const LogicalModel& model : models) names.push_back(model.name);
  const auto found = std::find(names.begin(), names.end(), node.text());
  if (found == names.end()) node.fail("no model is named " + quote(node.text()), spelling_hint(node.text(), names));
  return ModelId(static_cast<std::size_t>(found - names.begin()));
}

namespace {

using Pools = std::vector<PoolEntry>;

/// A policy of the gateway, by any of its names.
std::string load_gateway_policy(const YamlNode& node, const Pools& pools) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policy_table()) names.push_back(policy.name);
  for (const GatewayPolicy& policy : gateway_policies()) names.push_back(policy.name);
  std::sort(names.begin(), names.end());
  return read_policy(node, names, pools);
}

/// Each model must keep a pool that takes its traffic, and where prefill and decode are apart one of each.
void check_weights(const YamlNode& node, const std::vector<double>& weights, const Pools& pools) {
  std::map<std::pair<std::size_t, bool>, double> sums;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    sums[{pools[i].model, pools[i].role == PoolRole::kPrefill}] += weights[i];
  }
  for (const auto& [group, sum] : sums) {
    if (sum > 0) continue;
    node.fail(sums.size() == 1 ? "every weight is zero: no pool would take traffic"
              : group.second   ? "every weight is zero among the pools that prefill"
                               : "every weight is zero among the pools of one model");
  }
}

/// A pool that is not named keeps its weight of `weights`.
void load_weights(const YamlNode& node, const Pools& pools, std::vector<double>& weights) {
  MappingReader reader(node);
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (const auto weight = reader.optional(pools[i].name)) weights[i] = weight->number(0, 1e15);
  }
  reader.finish();
}

/// Dynamo's ratio of CUDA to CPU (DYN_ENCODER_CUDA_TO_CPU_RATIO). A canary takes what a stated weight sends it.
std::vector<double> device_weights(const std::vector<LogicalModel>& models, const Pools& pools) {
  constexpr double kCudaToCpu = 8;
  std::vector<double> weights;
  for (const PoolEntry& pool : pools) {
    const bool canary = models[pool.model].implementations[pool.implementation].status == ImplementationStatus::kCanary;
    weights.push_back(canary ? 0 : pool.accelerator.kind == DeviceKind::kCpu ? 1 : kCudaToCpu);
  }
  return weights;
}

/// After the policy.
void load_all_weights(const MappingReader& gateway, const std::optional<YamlNode>& stated,
                      const std::vector<LogicalModel>& models, const Pools& pools, RoutingEntry& routing) {
  const bool by_device = routing.gateway_policy == kDeviceAware;
  if (!stated && !by_device) return;
  if (!by_device && registered_policy(routing.gateway_policy) != "weighted") {
    gateway.fail_at_key("weights", fmt::format("only the policies weighted and {} read weights, and the policy is {}",
                                               kDeviceAware, routing.gateway_policy));
  }
  auto& weights = routing.gateway_weights;
  weights = by_device ? device_weights(models, pools) : std::vector<double>(pools.size(), 0.0);
  if (stated) load_weights(*stated, pools, weights);
  check_weights(stated.value_or(gateway.node()), weights, pools);
}

/// The lowest number comes first; a pool that is not named has 0.
std::vector<std::int32_t> load_priorities(const YamlNode& node, const Pools& pools) {
  std::vector<std::int32_t> priorities(pools.size(), 0);
  MappingReader reader(node);
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto priority = reader.optional(pools[i].name);
    if (priority) priorities[i] = static_cast<std::int32_t>(priority->integer(0, 1'000'000));
  }
  reader.finish();
  return priorities;
}

/// In the order of the file.
std::vector<std::int32_t> default_priorities(const Pools& pools) {
  std::vector<std::int32_t> priorities;
  for (std::size_t i = 0; i < pools.size(); ++i) priorities.push_back(static_cast<std::int32_t>(i));
  return priorities;
}

std::vector<std::optional<double>> load_prices(const YamlNode& node, const Pools& pools) {
  std::vector<std::optional<double>> prices(pools.size());
  MappingReader reader(node);
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (const auto price = reader.optional(pools[i].name)) prices[i] = read_token_price(*price);
  }
  reader.finish();
  return prices;
}

void load_sticky(const YamlNode& node, RoutingEntry& routing) {
  routing.gateway_rules.sticky = node.choice({"session", "user", "none"}) < 2;
  if (routing.gateway_rules.sticky && registered_policy(routing.gateway_policy) != "weighted") {
    node.fail("sessions stay by their weights, and the policy is " + routing.gateway_policy);
  }
}

}  // namespace

void load_gateway(const YamlNode& node, const std::vector<LogicalModel>& models, const Pools& pools,
                  RoutingEntry& routing) {
  GatewayRules& rules = routing.gateway_rules;
  MappingReader reader(node);
  if (const auto policy = reader.optional("policy")) routing.gateway_policy = load_gateway_policy(*policy, pools);
  load_all_weights(reader, reader.optional("weights"), models, pools, routing);
  if (const auto sticky = reader.optional("sticky")) load_sticky(*sticky, routing);
  if (const auto priorities = reader.optional("priorities")) {
    rules.priority = load_priorities(*priorities, pools);
  } else if (routing.gateway_policy == "priority-failover") {
    rules.priority = default_priorities(pools);
  }
  if (const auto prices = reader.optional("prices")) {
    routing.gateway_prices = load_prices(*prices, pools);
    if (routing.gateway_policy != "cost-based") {
      reader.fail_at_key("prices",
                         "only the policy cost-based reads prices, and the policy is " + routing.gateway_policy);
    }
  }
  if (const auto tiers = reader.optional("length_tiers")) rules.length_tiers = load_length_tiers(*tiers, pools);
  if (const auto fallbacks = reader.optional("fallbacks")) load_fallbacks(*fallbacks, models, pools, rules);
  if (const auto cooldowns = reader.optional("cooldowns")) load_cooldowns(*cooldowns, pools, rules);
  if (const auto breakers = reader.optional("circuit_breakers")) load_breakers(*breakers, pools, rules);
  if (const auto quotas = reader.optional("quotas")) rules.quotas = load_quotas(*quotas, models, rules);
  if (const auto mirrors = reader.optional("mirror")) rules.mirrors = load_mirrors(*mirrors, pools);
  reader.not_modelled_yet({"config"});
  reader.finish();
}

}  // namespace poolcast
