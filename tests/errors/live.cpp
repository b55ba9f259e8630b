// SPDX-License-Identifier: Apache-2.0
// What cannot be run on this machine, and a small run that can.
#include <catch2/catch.hpp>

#include "tests/support/program.h"

using poolcast::testing::Ran;
using poolcast::testing::read_file;
using poolcast::testing::run_program;
using poolcast::testing::TemporaryFolder;

namespace {

const std::string kExample = "scenarios/examples/live_cpu.yaml";

/// `live` of the example with changes.
Ran live(const std::vector<std::string>& changes, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"live", kExample};
  for (const std::string& change : changes) arguments.insert(arguments.end(), {"--set", change});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

/// The message of one that must end with 2.
std::string fault(const std::vector<std::string>& changes, const std::vector<std::string>& more = {}) {
  const Ran ran = live(changes, more);
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  return ran.err;
}

}  // namespace

TEST_CASE("a device cannot follow several replicas, a prefix cache, steps planned ahead or another engine") {
  CHECK(fault({"pools.replicas=2"}) == kExample + ": pools.cpu.replicas: a live run has one replica: set it to 1\n");
  CHECK(fault({"pools.engine.args.enable_prefix_caching=true"}) ==
        kExample + ": pools.cpu.engine.args.enable_prefix_caching: a live run computes every token: set it to false\n");
  CHECK(
      fault({"pools.engine.args.async_scheduling=true"}) ==
      kExample +
          ": pools.cpu.engine.args.async_scheduling: a live run plans a step when the one before it has ended: set it "
          "to false\n");
  CHECK(run_program({"live", "scenarios/examples/quickstart.yaml"}).err ==
        "scenarios/examples/quickstart.yaml: pools: a live run has one pool, not 2\n");
}

TEST_CASE("a model that does not fit or cannot run here is an error") {
  CHECK_THAT(fault({"pools.engine.args.num_gpu_blocks_override=100000000"}),
             Catch::Contains("do not fit into this machine's memory"));
  CHECK_THAT(fault({"models.shape.mlp_matrices=2"}), Catch::Contains("only gated MLPs are run live"));
  CHECK(fault({}, {"--steps", "/no/such/folder/steps.jsonl"}) ==
        "/no/such/folder/steps.jsonl: cannot write: No such file or directory\n");
}

TEST_CASE("a small model runs every step of a scenario here, and tells the time of each") {
  const TemporaryFolder folder;
  const std::string steps = folder.file("steps.jsonl");
  const Ran ran = live({"workload.synth.requests=6", "models.shape.layers=2", "models.shape.vocab=256"},
                       {"--implementation", "portable", "--steps", steps});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK_THAT(ran.out, Catch::Contains("6          6         6"));
  CHECK_THAT(ran.out, Catch::Contains("portable kernels, 1 thread, device clock"));
  CHECK_THAT(ran.out, Catch::Contains("steps ran here"));
  const std::string lines = read_file(steps);
  CHECK(std::count(lines.begin(), lines.end(), '\n') > 20);
  CHECK_THAT(lines, Catch::StartsWith("{\"tokens\":"));
}
