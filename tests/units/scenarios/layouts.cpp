// SPDX-License-Identifier: Apache-2.0
// What a layout and its arguments make of a pool.
#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "scenarios/load.h"
#include "scenarios/summary_json.h"
#include "sim/simulation.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr const char* kVllm = "{kind: vllm, version: mainline-2026-08-17}";

Scenario one_pool(const std::string& layout, const std::string& engine = kVllm,
                  const std::string& shape = "llama-3.1-8b", const std::string& accelerator = "h100-sxm") {
  return loaded(
      "version: 1\nworkload: {synth: {requests: 60, arrivals: {rate: 20/s}, prompt_tokens: 200, output_tokens: "
      "20}}\nmodels: {name: m, shape: " +
      shape + ", contract: {limits: {context: 8192}}}\npools:\n  name: p\n  accelerator: " + accelerator +
      "\n  layout: " + layout + "\n  replicas: 2\n  engine: " + engine + "\n  price: {reserved: $3.60/h}\n");
}

std::string vllm(const std::string& args) { return "{kind: vllm, version: mainline-2026-08-17, args: {" + args + "}}"; }

std::vector<std::int64_t> captured(const std::string& args, const std::string& accelerator = "h100-sxm") {
  const Scenario scenario = one_pool("{tp: 1}", vllm(args), "llama-3.1-8b", accelerator);
  return std::get<RooflineOptions>(scenario.pools[0].curves).capture_sizes;
}

}  // namespace

TEST_CASE("a pool's batches are padded to the graphs that vLLM captures, on GPUs") {
  const std::vector<std::int64_t> sizes = captured("");
  CHECK(sizes.size() == 3 + 32 + 16);  // 1, 2, 4; by 8 to 256; by 16 to 512
  CHECK(std::vector<std::int64_t>(sizes.begin(), sizes.begin() + 5) == std::vector<std::int64_t>{1, 2, 4, 8, 16});
  CHECK(sizes[34] == 256);
  CHECK(sizes[35] == 272);
  CHECK(sizes.back() == 512);
  CHECK(captured("max_cudagraph_capture_size: 20") == std::vector<std::int64_t>{1, 2, 4, 8, 16});
  CHECK(captured("cudagraph_capture_sizes: [3, 9]") == std::vector<std::int64_t>{3, 9});
  CHECK(captured("enforce_eager: true").empty());
  CHECK(captured("", "tpu-v6e").empty());
}

TEST_CASE("a round of a pipeline has the token budget of all its micro-batches, and its fullest stage the KV cache") {
  const Scenario scenario = one_pool("{tp: 1, pp: 2}", vllm("max_num_batched_tokens: 4096, max_num_seqs: 100"));
  BuiltScenario built = build(scenario);
  CHECK(built.spec.pools[0].vllm().max_num_batched_tokens == 2 * 4096);
  CHECK(built.spec.pools[0].vllm().max_num_seqs == 100);
  CHECK(built.spec.pools[0].devices_per_replica == 2);
  CHECK(built.spec.pools[0].price_per_replica.value == Approx(7.20));
  CHECK(built.spec.pools[0].curve->busy() != nullptr);
  CHECK(scenario.pools[0].engine.vllm().max_num_batched_tokens == 4096);
  // 16 of 32 layers: 65,536 B of KV a token; weights are those of 16 layers and one table.
  CHECK(scenario.pools[0].kv_memory->kv_bytes_per_token.value == 65'536);
  const double one_device = one_pool("{tp: 1}").pools[0].kv_memory->weights.value;
  CHECK(scenario.pools[0].kv_memory->weights.value == Approx(one_device / 2).epsilon(1e-3));
  CHECK(built.facts.fidelity.back().find("pipelines: ") == 0);
}

TEST_CASE("the summary tells the bubble of a pipeline, and of nothing else") {
  const auto told = [](const std::string& layout) {
    BuiltScenario built = build(one_pool(layout));
    const Report report = simulate(std::move(built.spec));
    return summarise(report, built.facts);
  };
  const Summary two = told("{tp: 1, pp: 2}");
  REQUIRE(two.pools[0].use.bubble_share);
  CHECK(*two.pools[0].use.bubble_share > 0.01);
  CHECK(*two.pools[0].use.bubble_share < 0.5);  // that of a lone request
  CHECK(summary_json(two).find("\"pipeline_bubble_share\": 0.") != std::string::npos);
  CHECK(two.notes[1].text.find("Pool p: a pipeline stage stands idle for ") == 0);
  const Summary one = told("{tp: 2}");
  CHECK_FALSE(one.pools[0].use.bubble_share);
  CHECK(summary_json(one).find("bubble") == std::string::npos);
}

TEST_CASE("TensorRT-LLM has both its limits for each micro-batch") {
  const BuiltScenario built = build(one_pool("{tp: 1, pp: 4}",
                                             "{kind: tensorrt-llm, version: main-2026-05, args: {max_batch_size: 8, "
                                             "max_num_tokens: 100, enable_chunked_prefill: "
                                             "true, pipeline_parallel_size: 4}}"));
  const auto& args = std::get<TensorrtLlmArgs>(built.spec.pools[0].engine);
  CHECK(args.max_num_tokens == 400);
  CHECK(args.max_batch_size == 32);
}

TEST_CASE("ranks are engines of their own, and their replica is one in the summary, on all its devices") {
  BuiltScenario built = build(one_pool("{tp: 2, dp: 3}", vllm("data_parallel_size: 3")));
  const PoolSpec pool = built.spec.pools[0];
  CHECK(pool.ranks == 3);
  CHECK(pool.balancer.name == "vllm-dplb");
  CHECK(pool.devices_per_replica == 6);
  CHECK(pool.price_per_replica.value == Approx(6 * 3.60));
  const RunFacts facts = built.facts;
  const Report report = simulate(std::move(built.spec));
  CHECK(report.replicas.size() == 6);
  for (const ReplicaReport& rank : report.replicas) CHECK(rank.requests > 0);
  const Summary summary = summarise(report, facts);
  REQUIRE(summary.pools[0].replicas.size() == 2);
  CHECK(summary.pools[0].replicas[0].requests == 30);
  CHECK(summary.cost.lines[0].devices == 12);
}

TEST_CASE("an older vLLM balances its ranks by their queues") {
  const Scenario scenario =
      one_pool("{dp: 2}", "{kind: vllm, version: \"0.19\", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}}");
  CHECK(build(scenario).spec.pools[0].balancer.name == "vllm-dplb-queue");
}

TEST_CASE("experts over all ranks leave each device its share of them") {
  const Scenario all = one_pool("{tp: 1, dp: 4, ep: 4}", vllm("enable_expert_parallel: true"), "qwen3-30b-a3b");
  // 128 experts of 3 * 2048 * 768 weights in 48 layers: 32 of them on a device.
  const double routed = 48.0 * 128 * 3 * 2048 * 768 * 2;
  const double whole = one_pool("{tp: 1}", kVllm, "qwen3-30b-a3b").pools[0].kv_memory->weights.value;
  CHECK(whole - all.pools[0].kv_memory->weights.value == Approx(routed * 3 / 4));
  CHECK(build(all).facts.fidelity.back().find("expert parallelism: ranks do not wait") == 0);
}
