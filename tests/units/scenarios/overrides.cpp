// SPDX-License-Identifier: Apache-2.0
#include "scenarios/overrides.h"

#include <catch2/catch.hpp>

#include "scenarios/yaml_writer.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using poolcast::testing::loaded;
using poolcast::testing::sound_scenario;

namespace {

/// The document `text` after `--set setting`, in one line.
std::string set(const std::string& text, const std::string& setting) {
  return flow_text(apply_override(parse_yaml("f.yaml", text), setting));
}

}  // namespace

TEST_CASE("an option replaces the value at its path") {
  CHECK(set("{a: 1, b: {c: 2}}", "b.c=5 s") == "{a: 1, b: {c: 5 s}}");
  CHECK(set("{a: 1}", "a={x: [1, 2]}") == "{a: {x: [1, 2]}}");
  CHECK(set("{a: {b: 1}}", "a=7") == "{a: 7}");
}

TEST_CASE("an option makes the keys on its way") {
  CHECK(set("{a: 1}", "b.c.d=2") == "{a: 1, b: {c: {d: 2}}}");
  CHECK(set("{a: }", "a.b=2") == "{a: {b: 2}}");
}

TEST_CASE("an option reaches an entry by index, by name, or because it is the only one") {
  const char* const two = "pools: [{name: x, n: 1}, {name: y, n: 2}]";
  CHECK(set(two, "pools[1].n=5") == "{pools: [{name: x, n: 1}, {name: y, n: 5}]}");
  CHECK(set(two, "pools.x.n=5") == "{pools: [{name: x, n: 5}, {name: y, n: 2}]}");
  const char* const one = "pools: [{name: x, n: 1}]";
  CHECK(set(one, "pools.n=5") == "{pools: [{name: x, n: 5}]}");
  CHECK(set(one, "pools.x.n=5") == "{pools: [{name: x, n: 5}]}");
}

TEST_CASE("an option reaches a mapping that stands for a list of one") {
  const char* const alone = "pools: {name: x, n: 1}";
  CHECK(set(alone, "pools.n=5") == "{pools: {name: x, n: 5}}");
  CHECK(set(alone, "pools[0].n=5") == "{pools: {name: x, n: 5}}");
  CHECK(set(alone, "pools.x.n=5") == "{pools: {name: x, n: 5}}");
}

TEST_CASE("an option finds names and keys that hold dots, the longest first") {
  CHECK(set("pools: [{name: v1}, {name: v1.5}]", "pools.v1.5.n=2") == "{pools: [{name: v1}, {name: v1.5, n: 2}]}");
  CHECK(set("{w: {v1: 1, v1.5: 2}}", "w.v1.5=3") == "{w: {v1: 1, v1.5: 3}}");
  CHECK(set("{ttft: {p99: 1 s}}", "ttft.p99.9=2 s") == "{ttft: {p99: 1 s, p99.9: 2 s}}");
}

TEST_CASE("an implementation is named by its pool") {
  CHECK(set("{implementations: [{pool: x}, {pool: y}]}", "implementations.y.precision=fp8") ==
        "{implementations: [{pool: x}, {pool: y, precision: fp8}]}");
}

TEST_CASE("a short form is spelt out before a path goes below it") {
  CHECK(set("{trace: a.csv}", "trace.rate_scale=2") == "{trace: {file: a.csv, rate_scale: 2}}");
  CHECK(set("{curves: roofline}", "curves.roofline.host_base=2 ms") == "{curves: {roofline: {host_base: 2 ms}}}");
  CHECK(set("{accelerator: h100-sxm}", "accelerator.tdp=1 W") == "{accelerator: {base: h100-sxm, tdp: 1 W}}");
  CHECK(set("{shape: llama}", "shape.layers=2") == "{shape: {base: llama, layers: 2}}");
  CHECK(set("{warm_up: 60 s}", "warm_up.requests=5") == "{warm_up: {time: 60 s, requests: 5}}");
  CHECK(set("{output_tokens: 10}", "output_tokens.max=5") ==
        "{output_tokens: {mean: 10, distribution: fixed, max: 5}}");
  CHECK(set("{price: none}", "price.reserved=$1/h") == "{price: {reserved: $1/h}}");
}

TEST_CASE("a value replaces the ones that cannot stand beside it") {
  CHECK(set("{model: m, synth: {requests: 5}}", "trace.file=a.csv") == "{model: m, trace: {file: a.csv}}");
  CHECK(set("{curves: {roofline: {}}}", "curves.step_fit.base=8 ms") == "{curves: {step_fit: {base: 8 ms}}}");
  CHECK(set("{price: {list: aws/x}}", "price.reserved=$1/h") == "{price: {reserved: $1/h}}");
}

TEST_CASE("options apply in order") {
  const Scenario scenario = loaded(sound_scenario(), {"seed=3", "seed=4", "pools.a.replicas=5"});
  CHECK(scenario.seed == 4);
  CHECK(scenario.pools[0].replicas == 5);
}

TEST_CASE("an option changes an engine argument however the file spells it") {
  const std::string dashed = testing::changed("max_num_seqs: 64", "max-num-seqs: 64");
  CHECK(loaded(dashed, {"pools.a.engine.args.max_num_seqs=7"}).pools[0].engine.vllm().max_num_seqs == 7);
  CHECK(loaded(sound_scenario(), {"pools.a.engine.args.max-num-seqs=7"}).pools[0].engine.vllm().max_num_seqs == 7);
}

TEST_CASE("an option changes an engine argument inside the group in which the file states it") {
  CHECK(set("pools: {engine: {args: {kv_cache_config: {max-tokens: 5}}}}", "pools.engine.args.max_tokens=7") ==
        "{pools: {engine: {args: {kv_cache_config: {max-tokens: 7}}}}}");
  CHECK(set("pools: {engine: {args: {kv_cache_config: {max_tokens: 5}}}}", "pools.engine.args.max_num_tokens=7") ==
        "{pools: {engine: {args: {kv_cache_config: {max_tokens: 5}, max_num_tokens: 7}}}}");
}

TEST_CASE("options reach keys that the file leaves to their defaults") {
  const Scenario scenario = loaded(
      sound_scenario(),
      {"pools.a.engine.args.block_size=32", "pools.b.curves.roofline.memory_efficiency=50 %",
       "pools.a.accelerator.memory_bandwidth=4 TB/s", "models.shape.layers=16", "routing.pools.b.policy=random",
       "measure.until=1 h", "models.contract.classes.fast.objectives.tpot.p99.9=50 ms", "workload.max_concurrency=4"});
  CHECK(scenario.pools[0].engine.vllm().block_size == 32);
  CHECK(std::get<RooflineOptions>(scenario.pools[1].curves).memory_efficiency == 0.5);
  CHECK(scenario.pools[0].accelerator.memory_bandwidth.value->value == 4e12);
  CHECK(scenario.pools[0].accelerator.name == "h100-sxm");
  CHECK(scenario.models[0].shape->layers == 16);
  CHECK(scenario.models[0].shape->hidden == 4096);
  CHECK(scenario.routing.pool_policies == std::vector<std::string>{"round-robin", "random"});
  CHECK(scenario.measure.until == 3600 * kNanosPerSecond);
  REQUIRE(scenario.models[0].classes[0].objectives.size() == 2);
  CHECK(scenario.models[0].classes[0].objectives[1].percentile == 99.9);
  CHECK(scenario.workload[0].max_concurrency == 4);
}
