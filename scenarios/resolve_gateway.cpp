// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

using Pools = std::vector<PoolEntry>;

std::string pool_list(const std::vector<PoolId>& list, const Pools& pools) {
  std::vector<std::string> names;
  for (const PoolId pool : list) names.push_back(yaml_text(pools[pool.value].name));
  return flow_list(names);
}

std::string reason_list(const ReasonSet& reasons) {
  std::vector<std::string> names;
  for (int i = 1; i < kReasons; ++i) {
    if (reasons.has(static_cast<Reason>(i))) names.emplace_back(name(static_cast<Reason>(i)));
  }
  return flow_list(names);
}

void write_tiers(YamlWriter& yaml, const GatewayRules& rules, const Pools& pools) {
  if (rules.length_tiers.empty()) return;
  yaml.open("length_tiers");
  for (const LengthTier& tier : rules.length_tiers) {
    yaml.open_item();
    yaml.value("prompt_tokens", fmt::format("[{}, {}]", tier.min, limit_text(tier.max)));
    yaml.value("pools", pool_list(tier.pools, pools));
    yaml.close_item();
  }
  yaml.close();
}

void write_model_lists(YamlWriter& yaml, std::string_view key, const std::vector<std::vector<ModelId>>& lists,
                       const std::vector<LogicalModel>& models) {
  if (lists.empty()) return;
  yaml.open(key);
  for (std::size_t m = 0; m < lists.size(); ++m) {
    std::vector<std::string> names;
    for (const ModelId next : lists[m]) names.push_back(yaml_text(models[next.value].name));
    yaml.value(models[m].name, flow_list(names));
  }
  yaml.close();
}

void write_fallbacks(YamlWriter& yaml, const GatewayRules& rules, const Scenario& scenario) {
  if (!rules.has_fallbacks()) return;
  yaml.open("fallbacks");
  if (!rules.pool_fallbacks.empty()) {
    yaml.open("pools");
    for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
      yaml.value(scenario.pools[p].name, pool_list(rules.pool_fallbacks[p], scenario.pools));
    }
    yaml.close();
  }
  write_model_lists(yaml, "models", rules.model_fallbacks, scenario.models);
  write_model_lists(yaml, "context_window", rules.context_fallbacks, scenario.models);
  yaml.close();
}

void write_cooldown(YamlWriter& yaml, const CooldownSpec& spec, const std::string& pool) {
  yaml.open_item();
  yaml.text("pools", pool);
  if (spec.trial > 0) {
    yaml.value("failure_threshold", std::to_string(spec.allowed_fails + 1));
    yaml.value("success_threshold", std::to_string(spec.trial));
  } else {
    yaml.value("allowed_fails", spec.allowed_fails == UINT64_MAX ? "none" : std::to_string(spec.allowed_fails));
    yaml.value("failure_share", spec.failure_share > 1 ? "none" : number_text(spec.failure_share));
    yaml.value("min_requests", std::to_string(spec.min_requests));
  }
  yaml.value("window", time_text(spec.window));
  yaml.value(spec.trial > 0 ? "timeout" : "cooldown_time", time_text(spec.rest));
  yaml.value("failures", reason_list(spec.failures));
  yaml.close_item();
}

/// Breakers are cooldowns with a trial.
void write_cooldowns(YamlWriter& yaml, const GatewayRules& rules, const Pools& pools) {
  for (const bool breakers : {false, true}) {
    bool open = false;
    for (std::size_t p = 0; p < rules.cooldowns.size(); ++p) {
      const auto& spec = rules.cooldowns[p];
      if (!spec || (spec->trial > 0) != breakers) continue;
      if (!open) yaml.open(breakers ? "circuit_breakers" : "cooldowns");
      open = true;
      write_cooldown(yaml, *spec, pools[p].name);
    }
    if (open) yaml.close();
  }
}

void write_quotas(YamlWriter& yaml, const GatewayRules& rules, const std::vector<LogicalModel>& models) {
  constexpr const char* kBeyond[] = {"reject", "next-tier", "fallback"};
  if (rules.quotas.empty()) return;
  yaml.open("quotas");
  for (const QuotaSpec& quota : rules.quotas) {
    yaml.open_item();
    if (quota.model.valid()) yaml.text("model", models[quota.model.value].name);
    if (quota.cls.valid()) {
      const auto [model, cls] = owner_of(quota.cls, models);
      yaml.text("class", models[model].classes[cls].name);
    }
    yaml.value(quota.counts_tokens ? "tokens" : "requests", std::to_string(quota.limit));
    yaml.value("per", time_text(quota.per));
    yaml.value("shadow", quota.shadow ? "true" : "false");
    yaml.value("beyond", kBeyond[static_cast<int>(quota.beyond)]);
    yaml.close_item();
  }
  yaml.close();
}

void write_mirrors(YamlWriter& yaml, const GatewayRules& rules, const Pools& pools) {
  if (rules.mirrors.empty()) return;
  yaml.open("mirror");
  for (const MirrorSpec& mirror : rules.mirrors) {
    yaml.open_item();
    yaml.text("from", pools[mirror.from.value].name);
    yaml.text("to", pools[mirror.to.value].name);
    yaml.value("share", number_text(mirror.share));
    yaml.value("cost", mirror.cost_counts ? "counts" : "apart");
    yaml.close_item();
  }
  yaml.close();
}

}  // namespace

std::pair<std::size_t, std::size_t> owner_of(ClassId cls, const std::vector<LogicalModel>& models) {
  std::size_t at = cls.value;
  for (std::size_t m = 0; m < models.size(); ++m) {
    if (at < models[m].classes.size()) return {m, at};
    at -= models[m].classes.size();
  }
  return {models.size(), 0};
}

void write_gateway(YamlWriter& yaml, const Scenario& scenario) {
  const RoutingEntry& routing = scenario.routing;
  const GatewayRules& rules = routing.gateway_rules;
  const Pools& pools = scenario.pools;
  yaml.open("gateway");
  yaml.value("policy", routing.gateway_policy);
  if (!routing.gateway_weights.empty()) {
    yaml.open("weights");
    for (std::size_t i = 0; i < pools.size(); ++i) yaml.value(pools[i].name, number_text(routing.gateway_weights[i]));
    yaml.close();
  }
  if (rules.sticky) yaml.value("sticky", "session");
  if (!rules.priority.empty()) {
    yaml.open("priorities");
    for (std::size_t i = 0; i < pools.size(); ++i) yaml.value(pools[i].name, std::to_string(rules.priority[i]));
    yaml.close();
  }
  if (!routing.gateway_prices.empty()) {
    yaml.open("prices");
    for (std::size_t i = 0; i < pools.size(); ++i) {
      if (routing.gateway_prices[i]) yaml.value(pools[i].name, token_price_text(*routing.gateway_prices[i]));
    }
    yaml.close();
  }
  write_tiers(yaml, rules, pools);
  write_fallbacks(yaml, rules, scenario);
  write_cooldowns(yaml, rules, pools);
  write_quotas(yaml, rules, scenario.models);
  write_mirrors(yaml, rules, pools);
  yaml.close();
}

void write_retry(YamlWriter& yaml, const RetrySpec& retry) {
  if (retry.max == 0) return;
  yaml.open("retry");
  yaml.value("max", std::to_string(retry.max));
  yaml.value("backoff", time_text(retry.backoff));
  yaml.value("factor", number_text(retry.factor));
  yaml.value("max_backoff", time_text(retry.longest));
  yaml.value("jitter", number_text(retry.jitter));
  yaml.value("budget", retry.budget > 1 ? "none" : number_text(retry.budget));
  yaml.value("window", time_text(retry.window));
  yaml.value("reasons", reason_list(retry.reasons));
  yaml.close();
}

}  // namespace poolcast
