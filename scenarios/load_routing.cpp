// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <span>

#include "scenarios/load_parts.h"
#include "sim/policies/registry.h"

namespace poolcast {
namespace {

using Pools = std::span<const PoolEntry>;

/// A policy for replicas of these pools. Those of vLLM read its engines' own signals.
std::string load_policy(const YamlNode& node, Pools pools) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policy_table()) names.push_back(policy.name);
  const std::string_view name = names[node.choice(names)];
  for (const PoolEntry& pool : pools) {
    if (name.substr(0, 4) != "vllm" || pool.engine.kind == "vllm") continue;
    node.fail(fmt::format("{} reads the signals of vLLM, and pool {} runs {}", name, pool.name, pool.engine.kind));
  }
  return std::string(name);
}

/// A pool without a weight has weight zero. Each model must keep a pool that takes its traffic, and where prefill and
/// decode are apart one of each.
std::vector<double> load_weights(const YamlNode& node, const std::vector<PoolEntry>& pools) {
  std::vector<double> weights(pools.size(), 0.0);
  std::map<std::pair<std::size_t, bool>, double> sums;
  MappingReader reader(node);
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (const auto weight = reader.optional(pools[i].name)) weights[i] = weight->number(0, 1e15);
    sums[{pools[i].model, pools[i].role == PoolRole::kPrefill}] += weights[i];
  }
  reader.finish();
  for (const auto& [group, sum] : sums) {
    if (sum > 0) continue;
    node.fail(sums.size() == 1 ? "every weight is zero: no pool would take traffic"
              : group.second   ? "every weight is zero among the pools that prefill"
                               : "every weight is zero among the pools of one model");
  }
  return weights;
}

const std::vector<std::string>& later_gateway_keys() {
  static const std::vector<std::string> kKeys = {"config", "fallbacks", "cooldowns",    "sticky",
                                                 "mirror", "quotas",    "length_tiers", "priorities"};
  return kKeys;
}

/// `pool: {policy: X}` or an entry of `pools`.
std::optional<std::string> load_pool_routing(const YamlNode& node, Pools pools) {
  MappingReader reader(node);
  const auto policy = reader.optional("policy");
  reader.not_modelled_yet({"config", "weights"});
  reader.finish();
  if (!policy) return std::nullopt;
  return load_policy(*policy, pools);
}

}  // namespace

RoutingEntry load_routing(const YamlNode& node, const std::vector<PoolEntry>& pools) {
  RoutingEntry routing;
  std::string pool_policy = routing.gateway_policy;
  MappingReader reader(node);
  if (const auto both = reader.optional("policy")) routing.gateway_policy = pool_policy = load_policy(*both, pools);
  if (const auto gateway = reader.optional("gateway")) {
    MappingReader parts(*gateway);
    if (const auto policy = parts.optional("policy")) routing.gateway_policy = load_policy(*policy, pools);
    if (const auto weights = parts.optional("weights")) routing.gateway_weights = load_weights(*weights, pools);
    parts.not_modelled_yet(later_gateway_keys());
    parts.finish();
    if (!routing.gateway_weights.empty() && routing.gateway_policy != "weighted") {
      parts.fail_at_key("weights",
                        "only the policy weighted reads weights, and the policy is " + routing.gateway_policy);
    }
  }
  if (const auto pool = reader.optional("pool")) pool_policy = load_pool_routing(*pool, pools).value_or(pool_policy);
  routing.pool_policies.assign(pools.size(), pool_policy);
  if (const auto each = reader.optional("pools")) {
    MappingReader parts(*each);
    for (std::size_t i = 0; i < pools.size(); ++i) {
      const auto entry = parts.optional(pools[i].name);
      if (entry) routing.pool_policies[i] = load_pool_routing(*entry, Pools(pools).subspan(i, 1)).value_or(pool_policy);
    }
    parts.finish();
  }
  reader.not_modelled_yet({"config", "signals", "move", "flow_control"});
  reader.finish();
  return routing;
}

}  // namespace poolcast
