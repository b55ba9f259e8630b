// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using namespace poolcast::testing;

TEST_CASE("wrong labels of replicas are pointed at") {
  CHECK(fault("    replicas: 2\n", "    replicas: 2\n    labels: [{a: b}]\n") ==
        "s.yaml:27:13: pools[0].labels: the pool has 2 replicas, and labels are given for 1\n"
        "    labels: [{a: b}]\n"
        "            ^");
  CHECK_THAT(fault("    replicas: 2\n", "    replicas: 2\n    labels: gold\n"), Catch::Contains("pools[0].labels"));
}

TEST_CASE("parameters of a policy that has none, or of no policy, are pointed at") {
  const auto with = [](const std::string& routing) { return fault("measure:", "  pool: {" + routing + "}\nmeasure:"); };
  CHECK_THAT(with("policy: random, parameters: {x: 1}"),
             Catch::Contains("pool.parameters: the policy random has none"));
  CHECK_THAT(with("parameters: {x: 1}"), Catch::Contains("are those of a policy, and none is named beside them"));
}
