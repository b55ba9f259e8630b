// SPDX-License-Identifier: Apache-2.0
// Routers that know of replicas late, and queues before pools: neither may depend on how steps were cut into leaps.
#include <catch2/catch.hpp>
#include <memory>

#include "sim/random.h"
#include "sim/routing/pipeline.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using World = SimulationSpec (*)(std::uint64_t seed);

constexpr SimTime kMs = 1'000'000;

struct Dice {
  RandomStream random;
  bool chance(double p) { return random.uniform() < p; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[random.below(values.size())];
  }
};

/// Intervals of whole milliseconds meet the ends of steps; others come between them.
MetricSignal metric(Dice& dice) {
  MetricSignal signal;
  signal.interval = dice.pick<SimTime>({0, kMs, 2 * kMs, 7 * kMs, 7'777'777, 50 * kMs});
  if (!signal.instant()) signal.delay = dice.pick<SimTime>({0, 0, kMs, signal.interval / 3, 3 * signal.interval});
  if (dice.chance(0.5)) signal.stale_after = signal.interval / 2;
  signal.when_stale = dice.pick({StalePolicy::kUse, StalePolicy::kIgnore, StalePolicy::kSaturated});
  return signal;
}

FlowBand band(Dice& dice, std::int32_t priority) {
  FlowBand made;
  made.priority = priority;
  if (dice.chance(0.3)) made.max_requests = dice.pick({1, 3, 10});
  made.order = dice.pick({FlowOrder::kFcfs, FlowOrder::kEdf, FlowOrder::kSloDeadline});
  made.fairness = dice.pick({FlowFairness::kGlobalStrict, FlowFairness::kRoundRobin});
  return made;
}

std::shared_ptr<const routing::PipelineSpec> pipeline(Dice& dice, bool with_flow) {
  routing::PipelineSpec spec;
  std::vector<const char*> types = {"kv-cache-utilization-scorer"};
  if (dice.chance(0.5))
    types = {"queue-scorer", "running-requests-size-scorer", "kv-cache-utilization-scorer", "prefix-cache-scorer"};
  for (const char* type : types) spec.plugins.push_back({type, type, {}});
  complete_pipeline(spec);
  if (!with_flow) return std::make_shared<routing::PipelineSpec>(spec);
  const bool by_queue = dice.chance(0.6);
  spec.plugins.push_back(
      by_queue ? routing::PluginSpec{"d", "utilization-detector",
                                     routing::map_value({{"queueDepthThreshold",
                                                          routing::number_value(dice.pick<double>({1, 2, 5}))}})}
               : routing::PluginSpec{
                     "d", "concurrency-detector",
                     routing::map_value({{"maxConcurrency", routing::number_value(dice.pick<double>({1, 3, 8}))}})});
  FlowControlSpec flow;
  flow.detector = spec.plugins.size() - 1;
  flow.ttl = dice.pick<SimTime>({kNever, 5 * kMs, 100 * kMs, 1000 * kMs});
  if (dice.chance(0.3)) flow.max_requests = dice.pick({2, 20});
  flow.other = band(dice, 0);
  flow.other_negative = band(dice, 0);
  flow.bands = {band(dice, 0), band(dice, -2)};
  spec.flow = flow;
  return std::make_shared<routing::PipelineSpec>(spec);
}

SimulationSpec late(World world, std::uint64_t seed) {
  SimulationSpec spec = world(seed);
  Dice dice{RandomStream(seed, "signals")};
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    PoolSpec& pool = spec.pools[p];
    PolicySpec& policy = spec.routing.pool[p];
    pool.replicas = std::max(pool.replicas, 3);
    if (dice.chance(0.2) && std::holds_alternative<VllmArgs>(pool.engine)) pool.ranks = 2;
    policy.signals = {metric(dice), metric(dice), metric(dice), dice.chance(0.4) ? 20 * kMs : 0};
    if (dice.chance(0.2)) {
      policy.name = "vllm-dplb";
    } else {
      policy.pipeline = pipeline(dice, pool.role != PoolRole::kPrefill && dice.chance(0.6));
    }
    if (pool.role != PoolRole::kDecode || !policy.pipeline || dice.chance(0.4)) continue;
    auto rules = std::make_shared<routing::PipelineSpec>(*policy.pipeline);
    rules->prefill = {dice.pick<std::int64_t>({0, 30}), dice.pick<std::int64_t>({0, 20, 60})};
    policy.pipeline = rules;
  }
  if (dice.chance(0.2)) spec.routing.gateway.name = "vllm-dplb";
  return spec;
}

struct Seen {
  std::uint64_t leaps = 0, elsewhere = 0, held = 0, expired = 0, found_full = 0, given_up = 0;
};

void check(World world, std::uint64_t worlds, Seen& seen) {
  for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
    Report report;
    const std::string leap = fingerprint_of(late(world, seed), false, &report);
    const std::string stepwise = fingerprint_of(late(world, seed), true);
    INFO("world " << seed);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    seen.leaps += report.leaps;
    for (const FlowReport& flow : report.flows) {
      CHECK(flow.came == flow.dispatched + flow.expired + flow.given_up);
      seen.held += flow.wait > 0;
      seen.expired += flow.expired;
      seen.found_full += flow.found_full;
      seen.given_up += flow.given_up;
    }
    SimulationSpec at_once = late(world, seed);
    for (PolicySpec& policy : at_once.routing.pool) policy.signals = {};
    seen.elsewhere += fingerprint_of(std::move(at_once), false) != leap;
  }
}

SimulationSpec ahead(std::uint64_t seed) {
  SimulationSpec spec = seed % 2 == 0 ? random_prefix_world(seed) : whole_milliseconds(seed);
  plan_ahead(spec, seed);
  return spec;
}

}  // namespace

TEST_CASE("leaps and single steps give the same bits where routers know late and requests wait before pools") {
  Seen seen;
  check(random_world, 150, seen);
  check(random_prefix_world, 150, seen);
  check(random_disaggregated_world, 100, seen);
  check(whole_milliseconds, 150, seen);
  check(ahead, 150, seen);
  CHECK(seen.leaps > 5000);
  CHECK(seen.elsewhere > 350);  // of 700: what is known late does decide
  CHECK(seen.held > 100);
  CHECK(seen.expired > 500);
  CHECK(seen.found_full > 500);
  CHECK(seen.given_up > 50);
}
