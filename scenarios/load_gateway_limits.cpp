// SPDX-License-Identifier: Apache-2.0
// Of `routing.gateway`: cooldowns, circuit_breakers, quotas; and the `retry` of a class.
#include <fmt/format.h>

#include "scenarios/load_gateway.h"
#include "scenarios/load_gateway_parts.h"
#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {

ReasonSet load_reasons(const YamlNode& node, const std::vector<Reason>& allowed) {
  std::vector<std::string_view> names;
  for (const Reason reason : allowed) names.emplace_back(name(reason));
  ReasonSet reasons;
  for (const YamlNode& item : node.one_or_more()) reasons.add(allowed[item.choice(names)]);
  if (reasons == ReasonSet()) node.fail("needs at least one reason");
  return reasons;
}

ClassId find_class(const YamlNode& node, const std::vector<LogicalModel>& models, ModelId model) {
  ClassId found;
  std::size_t id = 0;
  std::vector<std::string_view> names;
  for (std::size_t m = 0; m < models.size(); ++m) {
    for (const ClassEntry& cls : models[m].classes) {
      const ClassId here(id++);
      if (model.valid() && model.value != m) continue;
      names.push_back(cls.name);
      if (cls.name != node.text()) continue;
      if (found.valid()) node.fail("several models have a class " + quote(cls.name) + ": state the model");
      found = here;
    }
  }
  if (!found.valid()) node.fail("no class is named " + quote(node.text()), spelling_hint(node.text(), names));
  return found;
}

namespace {

/// Requests of users that went away say nothing about a pool.
const std::vector<Reason>& failures_of_pools() {
  static const std::vector<Reason> kReasons = {Reason::kQueueFull,     Reason::kQueueTimeout, Reason::kSaturated,
                                               Reason::kStalled,       Reason::kTimeout,      Reason::kPatience,
                                               Reason::kFlowQueueFull, Reason::kFlowExpired};
  return kReasons;
}

SimTime load_time(const YamlNode& node) {
  const SimTime time = to_sim_time(read_seconds(node));
  if (time <= 0) node.fail("must be above 0");
  return time;
}

/// The pools that an entry names, or all that the gateway chooses from.
std::vector<PoolId> pools_of(MappingReader& reader, const std::vector<PoolEntry>& pools) {
  std::vector<PoolId> named;
  if (const auto list = reader.optional("pools")) {
    for (const YamlNode& node : list->one_or_more()) named.push_back(find_pool(node, pools));
    if (named.empty()) list->fail("needs at least one pool");
    return named;
  }
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (pools[p].role != PoolRole::kPrefill) named.emplace_back(p);
  }
  return named;
}

void set_cooldowns(const YamlNode& node, const std::vector<PoolId>& named, const std::vector<PoolEntry>& pools,
                   const CooldownSpec& spec, GatewayRules& rules) {
  rules.cooldowns.resize(pools.size());
  for (const PoolId pool : named) {
    auto& place = rules.cooldowns[pool.value];
    if (place) node.fail(fmt::format("pool {} has a cooldown already", pools[pool.value].name));
    place = spec;
  }
}

}  // namespace

void load_cooldowns(const YamlNode& node, const std::vector<PoolEntry>& pools, GatewayRules& rules) {
  for (const YamlNode& item : node.one_or_more()) {
    CooldownSpec spec;
    MappingReader reader(item);
    const std::vector<PoolId> named = pools_of(reader, pools);
    if (const auto fails = reader.optional("allowed_fails")) {
      spec.allowed_fails = fails->is_word("none") ? UINT64_MAX : static_cast<std::uint64_t>(fails->integer(0));
    }
    if (const auto share = reader.optional("failure_share")) {
      spec.failure_share = share->is_word("none") ? 2 : read_share(*share);
    }
    if (const auto least = reader.optional("min_requests")) {
      spec.min_requests = static_cast<std::uint64_t>(least->integer(1));
    }
    if (const auto window = reader.optional("window")) spec.window = load_time(*window);
    if (const auto rest = reader.optional("cooldown_time")) spec.rest = load_time(*rest);
    if (const auto failures = reader.optional("failures")) spec.failures = load_reasons(*failures, failures_of_pools());
    reader.finish();
    set_cooldowns(item, named, pools, spec, rules);
  }
}

/// smg's names and defaults. Its breaker opens at `failures`, so one fewer is allowed.
void load_breakers(const YamlNode& node, const std::vector<PoolEntry>& pools, GatewayRules& rules) {
  for (const YamlNode& item : node.one_or_more()) {
    CooldownSpec spec;
    spec.allowed_fails = 9;
    spec.failure_share = 2;
    spec.trial = 3;
    spec.rest = 60 * kNanosPerSecond;
    spec.window = 120 * kNanosPerSecond;
    MappingReader reader(item);
    const std::vector<PoolId> named = pools_of(reader, pools);
    if (const auto fails = reader.optional("failure_threshold")) {
      spec.allowed_fails = static_cast<std::uint64_t>(fails->integer(1)) - 1;
    }
    if (const auto successes = reader.optional("success_threshold")) {
      spec.trial = static_cast<std::uint64_t>(successes->integer(1));
    }
    if (const auto rest = reader.optional("timeout")) spec.rest = load_time(*rest);
    if (const auto window = reader.optional("window")) spec.window = load_time(*window);
    if (const auto failures = reader.optional("failures")) spec.failures = load_reasons(*failures, failures_of_pools());
    reader.finish();
    set_cooldowns(item, named, pools, spec, rules);
  }
}

namespace {

void check_beyond(const YamlNode& node, const QuotaSpec& quota, const GatewayRules& rules) {
  if (quota.beyond == QuotaSpec::Beyond::kNextTier && rules.priority.empty()) {
    node.fail("there is no next tier: the gateway has no priorities");
  }
  if (quota.beyond == QuotaSpec::Beyond::kFallback && rules.model_fallbacks.empty()) {
    node.fail("there is no fallback: the gateway has no fallbacks of models");
  }
}

}  // namespace

std::vector<QuotaSpec> load_quotas(const YamlNode& node, const std::vector<LogicalModel>& models,
                                   const GatewayRules& rules) {
  std::vector<QuotaSpec> quotas;
  for (const YamlNode& item : node.one_or_more()) {
    QuotaSpec quota;
    MappingReader reader(item);
    if (const auto model = reader.optional("model")) quota.model = find_model(*model, models);
    if (const auto cls = reader.optional("class")) quota.cls = find_class(*cls, models, quota.model);
    const auto [what, limit] = reader.one_of({"requests", "tokens"});
    quota.counts_tokens = what == 1;
    quota.limit = limit.integer(0, INT64_MAX / 4);
    quota.per = load_time(reader.required("per"));
    if (const auto shadow = reader.optional("shadow")) quota.shadow = shadow->boolean();
    if (const auto beyond = reader.optional("beyond")) {
      quota.beyond = static_cast<QuotaSpec::Beyond>(beyond->choice({"reject", "next-tier", "fallback"}));
      check_beyond(*beyond, quota, rules);
    }
    reader.finish();
    quotas.push_back(quota);
  }
  return quotas;
}

RetrySpec load_retry(const YamlNode& node) {
  static const std::vector<Reason> kAllowed = {Reason::kQueueFull,     Reason::kQueueTimeout, Reason::kSaturated,
                                               Reason::kStalled,       Reason::kTimeout,      Reason::kPatience,
                                               Reason::kCoolingDown,   Reason::kQuota,        Reason::kNoEligiblePool,
                                               Reason::kFlowQueueFull, Reason::kFlowExpired};
  RetrySpec retry;
  MappingReader reader(node);
  retry.max = static_cast<std::int32_t>(reader.required("max").integer(0, 1000));
  if (const auto backoff = reader.optional("backoff")) retry.backoff = to_sim_time(read_seconds(*backoff));
  if (const auto factor = reader.optional("factor")) retry.factor = factor->number(1, 1000);
  if (const auto longest = reader.optional("max_backoff")) {
    retry.longest = to_sim_time(read_seconds(*longest));
    if (retry.longest < retry.backoff) longest->fail("is shorter than the first backoff, " + time_text(retry.backoff));
  } else {
    retry.longest = std::max(retry.longest, retry.backoff);
  }
  if (const auto jitter = reader.optional("jitter")) retry.jitter = read_share(*jitter);
  if (const auto budget = reader.optional("budget"); budget && !budget->is_word("none")) {
    retry.budget = read_share(*budget);
  }
  if (const auto window = reader.optional("window")) retry.window = load_time(*window);
  if (const auto reasons = reader.optional("reasons")) retry.reasons = load_reasons(*reasons, kAllowed);
  reader.finish();
  return retry;
}

}  // namespace poolcast
