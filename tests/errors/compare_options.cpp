// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/program.h"

using namespace poolcast::testing;

namespace {

const std::string kQuick = "scenarios/examples/quickstart.yaml";

struct Wrong {
  std::vector<std::string> options;
  std::string message;
};

}  // namespace

TEST_CASE("a wrong call of compare says what to write") {
  const std::vector<Wrong> calls = {
      {{},
       kQuick + ": states no move, so there is nothing to compare it with: name a CANDIDATE, or change something with "
                "--set-candidate\n"},
      {{kQuick, "--margin", "ttft.p98=2%"}, "--margin: there is no figure \"ttft.p98\"; did you mean \"ttft.p99\"?\n"},
      {{kQuick, "--margin", "cost"}, "--margin: expected FIGURE=SHARE, such as ttft.p99=2%, got \"cost\"\n"},
      {{kQuick, "--margin", "cost=2"}, "--margin cost: must be at most 1, that is 100 %, got \"2\"\n"},
      {{kQuick, "--confidence", "100%"}, "--confidence: must be from 50 % to below 100 %\n"},
      {{kQuick, "--replications", "0"},
       "poolcast compare: --replications: Value 0 not in range 1 to 100000\n`poolcast compare --help` shows how it is "
       "called\n"},
      {{"nothere.yaml"}, "nothere.yaml: cannot read the file: No such file or directory\n"},
      {{kQuick, "--set-candidate", "pools.nvida.replicas=3"},
       "--set pools.nvida.replicas=3: \"pools\" has no entry \"nvida\"; did you mean \"nvidia\"?\n"}};
  for (const Wrong& call : calls) {
    std::vector<std::string> arguments = {"compare", kQuick};
    arguments.insert(arguments.end(), call.options.begin(), call.options.end());
    const Ran ran = run_program(arguments);
    CHECK(ran.err == call.message);
    CHECK(ran.out == "");
    CHECK(ran.status == 2);
  }
}
