// SPDX-License-Identifier: Apache-2.0
// Faults in options `--set path.to.key=value`: the option stands in place of file, line and column.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault_of;
using poolcast::testing::sound_scenario;

namespace {

/// The message without its beginning, the option itself.
std::string told(const std::string& option) {
  const std::string message = fault_of(sound_scenario(), {option});
  const std::string begin = "--set " + option + ": ";
  return message.compare(0, begin.size(), begin) == 0 ? message.substr(begin.size()) : "elsewhere: " + message;
}

}  // namespace

TEST_CASE("an option without a value is an error") { CHECK(told("seed") == "expected path.to.key=value"); }

TEST_CASE("an option without a path is an error") { CHECK(told("=3") == "expected path.to.key=value"); }

TEST_CASE("an option with an empty value is an error") { CHECK(told("seed=") == "seed: has no value"); }

TEST_CASE("an option with an empty key is an error") {
  CHECK(told("measure..warm_up=3 s") == "the path has an empty key after \"measure.\"");
  CHECK(told("measure.=3 s") == "the path ends with a dot");
}

TEST_CASE("an option whose value is no YAML is an error") {
  CHECK(told("seed=: 3") == "expected a key here; is one left out, or a bracket not closed?");
  CHECK(told("seed={") == "a list or a mapping cannot be a key; is a bracket not closed?");
}

TEST_CASE("an option with an unknown key names the nearest") {
  CHECK(told("pools.a.replica=3") == "pools[0].replica: unknown key; did you mean \"replicas\"?");
  CHECK(told("sede=3") == "sede: unknown key; did you mean \"seed\"?");
  CHECK(told("workload.synth.arrivals.raet=3/s") ==
        "workload[0].synth.arrivals.raet: unknown key; did you mean \"rate\"?");
}

TEST_CASE("an option for an entry that does not exist lists those that do") {
  CHECK(told("pools.c.replicas=3") == "\"pools\" has no entry \"c\"; one of a, b");
  CHECK(told("pools.replicas=3") == "\"pools\" has no entry \"replicas\"; one of a, b");
  CHECK(told("models.chat.implementations.c.precision=fp8") ==
        "\"models.chat.implementations\" has no entry \"c\"; one of a, b");
}

TEST_CASE("an option with an index beyond the list is an error") {
  CHECK(told("pools[2].replicas=3") == "\"pools\" has 2 entries, counted from 0");
  CHECK(told("workload[1].class=slow") == "\"workload\" has 1 entry, counted from 0");
  CHECK(told("pools[x].replicas=3") == "expected an index such as [0] after \"pools\"");
  CHECK(told("pools[0.replicas=3") == "expected an index such as [0] after \"pools\"");
  CHECK(told("seed[0]=3") == "\"seed\" is not a list");
}

TEST_CASE("an option below a single value is an error") {
  CHECK(told("pools.a.replicas.count=3") == "\"pools.a.replicas\" is a single value, \"2\": there is nothing below it");
}

TEST_CASE("an option that must say which entry it means is an error") {
  const std::string two = poolcast::testing::changed(
      "models:\n",
      "  - {class: slow, closed_loop: {users: 1, requests: 1, prompt_tokens: 1, output_tokens: 1}}\nmodels:\n");
  CHECK(fault_of(two, {"workload.priority=3"}) ==
        "--set workload.priority=3: \"workload\" has no entry \"priority\"; say which of its 2 entries: workload[0], "
        "workload[1], …");
}

TEST_CASE("a value that an option sets is judged like one in the file") {
  CHECK(told("pools.a.replicas=abc") == "pools[0].replicas: expected a whole number, got \"abc\"");
  CHECK(told("pools.a.replicas=1e400") == "pools[0].replicas: must be a whole number from 1 to 1000000, got \"1e400\"");
  CHECK(told("pools.b.accelerator.memory_bandwidth=900 GBs") ==
        "pools[1].accelerator.memory_bandwidth: unknown unit \"GBs\" in \"900 GBs\"; did you mean \"GB/s\"?");
  CHECK(told("routing.gateway.policy=wieghted") ==
        "routing.gateway.policy: unknown value \"wieghted\"; did you mean \"weighted\"?");
  CHECK(told("workload.trace.file=no-such.csv") == "workload[0].trace.file: no such file; looked for \"no-such.csv\"");
}
