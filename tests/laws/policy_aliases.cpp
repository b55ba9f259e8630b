// SPDX-License-Identifier: Apache-2.0
// Policies of other products: what they remember and count must not depend on how steps were cut into leaps.
#include <algorithm>
#include <memory>

#include <catch2/catch.hpp>

#include "sim/random.h"
#include "sim/routing/aliases.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

SimulationSpec with_policy(const routing::PolicyAlias& alias, std::uint64_t seed) {
  SimulationSpec spec = seed % 2 == 0 ? random_world(seed) : random_prefix_world(seed);
  for (PolicySpec& policy : spec.routing.pool) {
    policy.pipeline = std::make_shared<routing::PipelineSpec>(alias.make());
  }
  for (PoolSpec& pool : spec.pools) pool.replicas = std::max(pool.replicas, 3);
  return spec;
}

MetricSignal late(RandomStream& random) {
  constexpr SimTime kMs = 1'000'000, kIntervals[] = {0, kMs, 7 * kMs, 7'777'777, 50 * kMs};
  MetricSignal signal;
  signal.interval = kIntervals[random.below(5)];
  if (!signal.instant()) signal.delay = static_cast<SimTime>(random.below(3)) * signal.interval / 2;
  return signal;
}

/// In worlds of every kind, with figures that are known at once or late.
SimulationSpec anywhere(const routing::PolicyAlias& alias, std::uint64_t seed) {
  constexpr decltype(&random_world) kWorlds[] = {random_world, random_prefix_world, random_layout_world,
                                                 random_disaggregated_world};
  SimulationSpec spec = kWorlds[seed % 4](seed);
  RandomStream random(seed, "policy");
  routing::Value parameters;  // worlds are short
  if (alias.name == "bucket") {
    parameters = routing::map_value({{"bucket_adjust_interval_secs", routing::number_value(0.05)},
                                     {"balance_abs_threshold", routing::number_value(5)}});
  }
  for (PolicySpec& policy : spec.routing.pool) {
    policy.pipeline = std::make_shared<routing::PipelineSpec>(alias.make(parameters));
    SignalSpec& signals = policy.signals;
    for (MetricSignal* m : {&signals.waiting, &signals.running, &signals.kv_usage, &signals.busy}) *m = late(random);
    signals.busy_window = static_cast<SimTime>(1 + random.below(300)) * 10'000'001;
  }
  for (PoolSpec& pool : spec.pools) pool.replicas = std::max(pool.replicas, 3);
  for (ClassSpec& cls : spec.classes) {
    cls.objectives.push_back({Metric::kTtft, 99, static_cast<SimTime>(1 + random.below(100)) * 1'000'000});
    cls.objectives.push_back({Metric::kTpot, 99, static_cast<SimTime>(1 + random.below(20)) * 1'000'000});
  }
  return spec;
}

}  // namespace

TEST_CASE("policies of other products choose the same replicas in leaps and step by step") {
  std::uint64_t leaps = 0;
  for (const routing::PolicyAlias& alias : routing::policy_aliases()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Report report;
      const std::string leap = fingerprint_of(with_policy(alias, seed), false, &report);
      const std::string stepwise = fingerprint_of(with_policy(alias, seed), true);
      INFO(alias.name << ", world " << seed);
      if (leap != stepwise) FAIL(first_difference(leap, stepwise));
      leaps += report.leaps;
    }
  }
  CHECK(leaps > 100);
}

TEST_CASE(
    "policies that go by time and by predictions choose alike in leaps and step by step, in worlds of every kind") {
  for (const char* name : {"least-busy-time", "bucket", "slo-least-load", "slo-pack-load"}) {
    const routing::PolicyAlias& alias = *routing::find_alias(name);
    std::uint64_t leaps = 0, elsewhere = 0;
    for (std::uint64_t seed = 1; seed <= 240; ++seed) {
      Report report;
      const std::string leap = fingerprint_of(anywhere(alias, seed), false, &report);
      const std::string stepwise = fingerprint_of(anywhere(alias, seed), true);
      INFO(name << ", world " << seed);
      if (leap != stepwise) FAIL(first_difference(leap, stepwise));
      leaps += report.leaps;
      SimulationSpec plain = anywhere(alias, seed);
      for (PolicySpec& policy : plain.routing.pool) policy.pipeline = nullptr;
      elsewhere += fingerprint_of(std::move(plain), false) != leap;
    }
    INFO(name);
    CHECK(leaps > 1000);
    CHECK(elsewhere > 120);  // it does decide
  }
}
