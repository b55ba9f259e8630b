// SPDX-License-Identifier: Apache-2.0
// Policies of other products: what they remember and count must not depend on how steps were cut into leaps.
#include <algorithm>
#include <memory>

#include <catch2/catch.hpp>

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
