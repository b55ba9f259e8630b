// SPDX-License-Identifier: Apache-2.0
// Rules of the gateway and retries in random worlds: nothing depends on how a run is cut into leaps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/random.h"
#include "sim/routing/pipeline.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = kNanosPerSecond / 1000;

/// Requests wait before the pool while its queues are long; its router asks engines every few milliseconds.
void hold_back(SimulationSpec& spec, std::size_t pool, SimTime interval) {
  routing::PipelineSpec pipeline;
  pipeline.plugins.push_back({"queue-scorer", "queue-scorer", {}});
  complete_pipeline(pipeline);
  pipeline.plugins.push_back({"d", "utilization-detector", {}});
  FlowControlSpec flow;
  flow.detector = pipeline.plugins.size() - 1;
  flow.ttl = 100 * kMs;
  flow.max_requests = 5;
  pipeline.flow = flow;
  spec.routing.pool[pool].pipeline = std::make_shared<routing::PipelineSpec>(pipeline);
  spec.routing.pool[pool].signals.waiting.interval = interval;
}

/// Every rule, each in most worlds, on pools that are often full.
void add_rules(SimulationSpec& spec, std::uint64_t seed) {
  RandomStream random(seed, "test/gateway");
  const auto chance = [&](double p) { return random.uniform() < p; };
  const auto below = [&](std::uint64_t most) { return static_cast<SimTime>(random.below(most)); };
  GatewayRules& rules = spec.routing.rules;
  const std::size_t pools = spec.pools.size();
  for (PoolSpec& pool : spec.pools) {
    if (chance(0.6)) pool.max_pending_requests = below(4);
  }
  for (std::size_t p = 0; p < pools; ++p) {
    if (seed % 3 == 0 && spec.pools[p].role != PoolRole::kPrefill && chance(0.5))
      hold_back(spec, p, below(3) * 7 * kMs);
  }
  for (ClassSpec& cls : spec.classes) {
    RetrySpec& retry = cls.retry;
    retry.max = static_cast<std::int32_t>(below(5));
    retry.backoff = (1 + below(200)) * kMs;
    retry.window = (50 + below(2000)) * kMs;
    if (chance(0.5)) retry.budget = random.uniform();
    if (chance(0.5)) retry.reasons.add(Reason::kPatience);
    if (chance(0.5)) retry.reasons.add(Reason::kQuota);
  }
  if (chance(0.5)) {
    for (std::size_t p = 0; p < pools; ++p) rules.priority.push_back(static_cast<std::int32_t>(below(2)));
  }
  if (chance(0.3)) {
    for (std::size_t p = 0; p < pools; ++p) rules.price.push_back(static_cast<double>(below(2)));
  }
  if (chance(0.5)) rules.sticky = true;
  if (chance(0.3)) rules.length_tiers = {{0, 100, {PoolId(0u)}}, {50, 400, {PoolId(pools - 1)}}};
  if (chance(0.6)) {
    rules.pool_fallbacks.resize(pools);
    for (std::size_t p = 0; p + 1 < pools; ++p) {
      if (spec.pools[p + 1].role != PoolRole::kPrefill) rules.pool_fallbacks[p] = {PoolId(p + 1)};
    }
  }
  if (chance(0.6)) {
    CooldownSpec cooldown;
    cooldown.allowed_fails = static_cast<std::uint64_t>(below(6));
    cooldown.min_requests = 2;
    cooldown.rest = (1 + below(400)) * kMs;
    cooldown.trial = static_cast<std::uint64_t>(below(3));
    rules.cooldowns.assign(pools, cooldown);
  }
  if (chance(0.5)) {
    QuotaSpec quota;
    quota.counts_tokens = chance(0.5);
    quota.limit = quota.counts_tokens ? 2000 + below(5000) : 1 + below(20);
    quota.per = (100 + below(500)) * kMs;
    quota.shadow = chance(0.2);
    if (!rules.priority.empty() && chance(0.5)) quota.beyond = QuotaSpec::Beyond::kNextTier;
    rules.quotas = {quota};
  }
  if (chance(0.5)) {  // device-aware-weighted
    spec.routing.gateway = {"least-request", {}};
    for (const PoolSpec& pool : spec.pools) {
      spec.routing.gateway.weights.push_back((chance(0.5) ? 8.0 : 1.0) * pool.replicas);
    }
  }
  const auto is_whole = [](const PoolSpec& pool) { return pool.role == PoolRole::kBoth; };
  if (pools > 1 && chance(0.6) && std::all_of(spec.pools.begin(), spec.pools.end(), is_whole)) {
    rules.mirrors = {{PoolId(0u), PoolId(1u), random.uniform(), false}};
  }
}

struct Seen {
  std::uint64_t retries = 0, denied = 0, fallbacks = 0, cooldowns = 0, beyond = 0, copies = 0, held = 0;
};

void look(const Report& report, Seen& seen) {
  for (const RetryReport& r : report.gateway.retries) {
    seen.retries += r.retries;
    seen.denied += r.denied;
  }
  for (const FallbackReport& f : report.gateway.fallbacks) seen.fallbacks += f.requests;
  for (const CooldownReport& c : report.gateway.cooldowns) seen.cooldowns += c.begun;
  for (const QuotaReport& q : report.gateway.quotas) seen.beyond += q.beyond;
  for (const FlowReport& f : report.flows) seen.held += f.came;
  for (const MirrorReport& m : report.gateway.mirrors) seen.copies += m.cell.outcomes.offered;
}

template <class World>
void check(World world, std::uint64_t worlds, Seen& seen) {
  for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
    const auto make = [&] {
      SimulationSpec spec = world(seed);
      add_rules(spec, seed);
      return spec;
    };
    Report report;
    const std::string leap = fingerprint_of(make(), false, &report);
    const std::string stepwise = fingerprint_of(make(), true);
    INFO("world " << seed);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    look(report, seen);
  }
}

}  // namespace

TEST_CASE("rules of the gateway and retries give the same bits by leaps and by single steps on random worlds") {
  Seen seen;
  check(random_world, 200, seen);
  check(random_prefix_world, 200, seen);
  check(random_disaggregated_world, 100, seen);
  check(random_layout_world, 100, seen);
  INFO(seen.retries << " retries, " << seen.denied << " denied, " << seen.fallbacks << " fallbacks, " << seen.cooldowns
                    << " cooldowns, " << seen.beyond << " beyond quotas, " << seen.copies << " copies, " << seen.held
                    << " held back");
  CHECK(seen.retries > 1000);
  CHECK(seen.denied > 100);
  CHECK(seen.fallbacks > 300);
  CHECK(seen.cooldowns > 100);
  CHECK(seen.beyond > 300);
  CHECK(seen.copies > 1000);
  CHECK(seen.held > 1000);
}
