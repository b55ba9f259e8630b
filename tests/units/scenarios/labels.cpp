// SPDX-License-Identifier: Apache-2.0
// Labels of replicas and parameters of policies, as scenarios state them.
#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "scenarios/resolve.h"
#include "scenarios/run_sample.h"
#include "sim/simulation.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::string with_labels(const std::string& labels, const std::string& pool_routing = {}) {
  std::string text = changed("    replicas: 2\n", "    replicas: 2\n    labels: " + labels + "\n");
  if (!pool_routing.empty()) text.replace(text.find("measure:"), 0, "  pools: {a: " + pool_routing + "}\n");
  return text;
}

class Places : public Observer {
 public:
  void request_ended(const RequestRecord& r) override {
    if (r.pool == PoolId(0u)) ++counts.at(r.replica.value);
  }
  std::vector<int> counts = {0, 0};
};

}  // namespace

TEST_CASE("labels are of every replica, or of each, and survive check") {
  const Scenario every = loaded(with_labels("{tier: gold, zone: \"1\"}"));
  REQUIRE(every.pools[0].labels.size() == 2);
  CHECK(every.pools[0].labels[1] == every.pools[0].labels[0]);
  CHECK(every.pools[0].labels[0][1].second == "1");
  const Scenario each = loaded(with_labels("[{tier: gold}, {}]"));
  CHECK(each.pools[0].labels[1].empty());
  for (const Scenario& scenario : {every, each}) {
    const Scenario again = loaded(resolved_yaml(scenario));
    CHECK(again.pools[0].labels == scenario.pools[0].labels);
    CHECK(scenario_digest(again) == scenario_digest(scenario));
  }
  CHECK(loaded(sound_scenario()).pools[0].labels.empty());
}

TEST_CASE("an endpoint picker chooses by the labels of replicas") {
  const std::string picker =
      "{config: {apiVersion: llm-d.ai/v1alpha1, kind: EndpointPickerConfig, plugins: [{type: by-label, parameters: "
      "{label: tier, validValues: [gold]}}, {type: random-picker}]}}";
  BuiltScenario built = build(loaded(with_labels("[{tier: iron}, {tier: gold}]", picker)));
  Places places;
  simulate(std::move(built.spec), {&places});
  CHECK(places.counts[0] == 0);
  CHECK(places.counts[1] > 0);
}

TEST_CASE("a policy of another product takes parameters, which check shows in its pipeline") {
  const auto text = [](const std::string& parameters) {
    std::string scenario = sound_scenario();
    return scenario.replace(scenario.find("measure:"), 0, "  pool: {policy: prefix-hash" + parameters + "}\n");
  };
  const std::string resolved = resolved_yaml(loaded(text(", parameters: {load_factor: 2}")));
  CHECK_THAT(resolved, Catch::Contains("parameters: {prefix_token_count: 256, load_factor: 2}"));
  CHECK(scenario_digest(loaded(resolved)) == scenario_digest(loaded(text(", parameters: {load_factor: 2}"))));
  CHECK(scenario_digest(loaded(text(""))) == scenario_digest(loaded(text(", parameters: {load_factor: 1.25}"))));
  CHECK_THAT(fault_of(text(", parameters: {load_facto: 2}")), Catch::Contains("did you mean \"load_factor\"?"));
  CHECK_THAT(fault_of(text(", parameters: {load_factor: 0.5}")), Catch::Contains("must be in [1, inf), got 0.5"));
}
