// SPDX-License-Identifier: Apache-2.0
#include "scenarios/build.h"

#include <catch2/catch.hpp>

#include "scenarios/load.h"
#include "sim/routing/lua_plugins.h"
#include "sim/simulation.h"
#include "tests/support/scenario_text.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

Report run_example(const std::string& name, const std::vector<std::string>& options) {
  return simulate(
      build(load_scenario(POOLCAST_SOURCE_DIR "/scenarios/examples/" + name, source_catalog(), options)).spec);
}

}  // namespace

TEST_CASE("a built scenario has its pools in the order of the file") {
  const BuiltScenario built = build(loaded(changed("layout: {tp: 1}", "layout: {tp: 2}")));
  REQUIRE(built.spec.pools.size() == 2);
  CHECK(built.spec.pools[0].name == "a");
  CHECK(built.spec.pools[0].replicas == 2);
  CHECK(built.spec.pools[0].devices_per_replica == 2);
  CHECK(built.spec.pools[0].price_per_replica.value == 4.2);
  CHECK(built.spec.routing.gateway.weights == std::vector<double>{3, 1});
  CHECK(built.spec.routing.pool.size() == 2);
  CHECK(built.facts.pools[0].accelerator == "h100-sxm");
  CHECK(built.facts.pools[0].engine == "vllm 0.19");
  CHECK(built.facts.pools[0].price_per_device->value == 2.1);
  CHECK_FALSE(built.facts.pools[1].price_per_device.has_value());
  CHECK(built.facts.pools[1].curve.find("mi300x") != std::string::npos);
  CHECK(built.workload == std::vector<std::string>{"chat/fast: synth"});
  CHECK_FALSE(built.facts.fidelity.empty());
}

TEST_CASE("the limit of an implementation is built as it is stated; that of its engine stands in the engine") {
  const BuiltScenario built = build(loaded(changed("- {pool: b}", "- {pool: b, limits: {context: 4096}}")));
  REQUIRE(built.spec.models[0].implementations.size() == 2);
  CHECK(built.spec.models[0].implementations[0].context_limit == INT64_MAX);
  CHECK(built.spec.models[0].implementations[1].context_limit == 4096);
}

TEST_CASE("classes are numbered over all models, and a workload finds its own") {
  std::string text = changed("      - {pool: b}\n", "");
  text.replace(text.find("pools:\n"), 7,
               "  - {name: other, shape: llama-3.1-8b, contract: {classes: {fast: {priority: 5}}}, "
               "implementations: {pool: b}}\npools:\n");
  text.replace(
      text.find("models:\n"), 8,
      "  - {model: other, closed_loop: {users: 1, requests: 1, prompt_tokens: 1, output_tokens: 1}}\nmodels:\n");
  const BuiltScenario built = build(loaded(text));
  REQUIRE(built.spec.classes.size() == 3);
  CHECK(built.spec.classes[2].model == ModelId(1U));
  REQUIRE(built.spec.sources.size() == 2);
  CHECK(built.spec.sources[0].source->pop().cls == ClassId(0U));
  const Arrival other = built.spec.sources[1].source->pop();
  CHECK(other.cls == ClassId(2U));
  CHECK(other.priority == 5);
}

TEST_CASE("a format that was detected is told") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"),
             "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"
             "2023-11-16 18:15:50.9951690,396,109\n");
  const BuiltScenario built = build(loaded(sound_scenario(), {"workload.trace=" + folder.file("t.csv")}));
  CHECK(built.workload == std::vector<std::string>{"chat/fast: trace t.csv"});
  REQUIRE_FALSE(built.facts.notes.empty());
  CHECK(built.facts.notes.back() == "chat/fast: trace t.csv: format azure, by its header");
}

TEST_CASE("the examples run and complete their requests") {
  const Report quick = run_example("quickstart.yaml", {});
  CHECK(quick.total().outcomes.count(Outcome::kCompleted) == 2000);
  const Report unlike = run_example("unlike_pools.yaml", {"workload.synth.requests=2000"});
  CHECK(unlike.total().outcomes.count(Outcome::kCompleted) == unlike.total().outcomes.offered);
  for (std::size_t pool = 0; pool < 3; ++pool) CHECK(unlike.of_pool(PoolId(pool)).outcomes.offered > 100);
  const Report engines =
      run_example("engines_side_by_side.yaml", {"workload.synth.requests=1000", "measure.warm_up=0 s"});
  for (std::size_t pool = 0; pool < 4; ++pool) {
    CHECK(engines.of_pool(PoolId(pool)).outcomes.count(Outcome::kCompleted) == 250);
  }
  const Report apart = run_example("disaggregated.yaml", {"workload.synth.requests=500", "measure.warm_up=0 s"});
  CHECK(apart.total().outcomes.count(Outcome::kCompleted) == 500);
  CHECK(apart.transfers == 500);
  CHECK(apart.transferred_bytes > 500e6);  // about 3,000 tokens of 80 layers * 8 heads * 128 * 2 * 2 bytes each
  if (routing::lua_built_in()) {
    const Report scripted = run_example("scripted_routing.yaml", {"workload.synth.requests=500"});
    CHECK(scripted.total().outcomes.count(Outcome::kCompleted) == 500);
    CHECK(scripted.notes.empty());  // no call of its script failed
  }
  const Report passes = run_example("one_pass.yaml", {});
  CHECK(passes.total().outcomes.count(Outcome::kCompleted) == 4066);
}

TEST_CASE("an accelerator that is swapped changes the latencies of its pool and of no other") {
  const std::vector<std::string> split = {"workload.synth.requests=3000", "routing.pool.policy=round-robin"};
  std::vector<std::string> swapped = split;
  swapped.insert(swapped.end(), {"pools.amd.accelerator=mi355x", "pools.amd.price=none"});
  const Report before = run_example("unlike_pools.yaml", split);
  const Report after = run_example("unlike_pools.yaml", swapped);
  const auto mean = [](const Report& report, std::size_t pool) {
    return report.of_pool(PoolId(pool)).latencies[Metric::kE2e].mean();
  };
  CHECK(mean(before, 0) == mean(after, 0));
  CHECK(mean(before, 2) == mean(after, 2));
  CHECK(mean(after, 1) < mean(before, 1));
}
