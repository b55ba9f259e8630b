// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/network.h"
#include "sim/routing/pipeline.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

/// A pool that prefills in steps of 10 ms and one that decodes in steps of 5 ms; 1 kB per token over 1 GB/s and 1 ms.
SimulationSpec two_halves() {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  PoolSpec decode = spec.pools[0];
  spec.pools[0].role = PoolRole::kPrefill;
  spec.pools[0].vllm().max_num_batched_tokens = 4096;
  spec.pools[0].kv_bytes_per_token = 1000;
  spec.pools[0].node = spec.topology.add_node("prefill");
  decode.name = "decode";
  decode.role = PoolRole::kDecode;
  decode.curve = fixed_step(0.005);
  decode.node = spec.topology.add_node("decode");
  spec.topology.connect({0, 1, BytesPerSecond(1e9), Seconds(1e-3)});
  spec.pools.push_back(decode);
  spec.models[0].implementations.push_back({.pool = PoolId(1u)});
  spec.routing.pool.resize(2);
  return spec;
}

}  // namespace

TEST_CASE("a request goes from prefill over the link to decode, and every instant is told") {
  SimulationSpec spec = two_halves();
  spec.stepwise = GENERATE(false, true);
  add_list(spec, {arrival(0, 1000, 3)});
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  REQUIRE(r.size() == 1);
  CHECK(r[0].outcome == Outcome::kCompleted);
  CHECK(r[0].at.first_scheduled == 0);
  CHECK(r[0].at.prefilled == 10 * kMs);
  CHECK(r[0].at.transferred == 12 * kMs);  // 1 MB at 1 GB/s, then 1 ms of latency
  CHECK(r[0].at.first_token == 17 * kMs);
  CHECK(r[0].ended == 27 * kMs);
  CHECK(r[0].pool == PoolId(1u));
  CHECK(r[0].prefill_replica == ReplicaId(0u));
  CHECK(report.transfers == 1);
  CHECK(report.transferred_bytes == 1e6);
  CHECK(report.transfer_time == 2 * kMs);
  CHECK(report.replicas[0].scheduled_tokens == 1000);
  CHECK(report.replicas[1].scheduled_tokens == 3);  // the last token of the prompt again, and two outputs
}

TEST_CASE("by a decider only long prompts that are not cached where they are decoded are computed elsewhere") {
  SimulationSpec spec = two_halves();
  spec.stepwise = GENERATE(false, true);
  spec.pools[1].vllm().enable_prefix_caching = true;
  routing::PipelineSpec pipeline;
  pipeline.plugins = {{"decode-filter", "decode-filter", {}}, {"prefix-cache-scorer", "prefix-cache-scorer", {}}};
  complete_pipeline(pipeline);
  pipeline.prefill = {300, 200};
  spec.routing.pool[1].pipeline = std::make_shared<routing::PipelineSpec>(pipeline);
  routing::PipelineSpec prefill;
  prefill.plugins = {{"prefill-filter", "prefill-filter", {}}, {"random-picker", "random-picker", {}}};
  complete_pipeline(prefill);
  spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(prefill);
  std::vector<Arrival> arrivals = {arrival(0, 299, 2), arrival(1, 300, 2), arrival(2, 1000, 2), arrival(3, 1000, 2),
                                   arrival(4, 1400, 2)};
  for (std::size_t i = 0; i < 2; ++i) arrivals[i].content.prompt = {{100 + i, 0, arrivals[i].prompt_tokens}};
  for (std::size_t i = 2; i < 5; ++i) arrivals[i].content.prompt = {{7, 0, arrivals[i].prompt_tokens}};
  add_list(spec, arrivals);
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  const bool elsewhere[] = {false, true, true, false, true};
  for (std::size_t i = 0; i < 5; ++i) {
    INFO(i);
    CHECK(r[i].outcome == Outcome::kCompleted);
    CHECK(r[i].prefill_replica.valid() == elsewhere[i]);
    CHECK((r[i].at.transferred != kNever) == elsewhere[i]);
  }
  CHECK(r[0].at.first_token == 5 * kMs);  // in one step of the pool that decodes
  CHECK(report.transfers == 3);
}

TEST_CASE("transfers that share a link share its bandwidth") {
  SimulationSpec spec = two_halves();
  add_list(spec, {arrival(0, 1000, 2), arrival(0, 2000, 2)});
  const auto r = records_by_row(std::move(spec));
  // Both start at 10 ms with half the link: the first has sent its 1 MB after 2 ms, the second's last 1 MB takes 1 ms.
  CHECK(r[0].at.transferred == 13 * kMs);
  CHECK(r[1].at.transferred == 14 * kMs);
}

TEST_CASE("decode attention pays for the whole context although its KV came from elsewhere") {
  // vLLM's step on the decode side holds one token of the prompt; its context is the prompt.
  SimulationSpec spec = two_halves();
  auto curve = std::make_shared<KneeCurve>();
  curve->base = curve->per_token = curve->per_request = curve->per_pair = 0;
  curve->per_context = 1e-6;
  spec.pools[1].curve = curve;
  add_list(spec, {arrival(0, 1000, 3)});
  const auto r = records_by_row(std::move(spec));
  CHECK(r[0].ended - r[0].at.first_token == (1002 + 1001) * 1000);  // contexts of 1,001 and 1,002 tokens
}

TEST_CASE("the prompt's blocks stay on the prefill side until the KV has moved") {
  SimulationSpec spec = two_halves();
  spec.pools[0].vllm().num_gpu_blocks = 64;  // 63 blocks: one prompt of 1,000 tokens at a time
  add_list(spec, {arrival(0, 1000, 2), arrival(0, 1000, 2)});
  const auto r = records_by_row(std::move(spec));
  CHECK(r[0].at.prefilled == 10 * kMs);
  CHECK(r[0].at.transferred == 12 * kMs);
  CHECK(r[1].at.first_scheduled == 12 * kMs);
}

TEST_CASE("a request that is given up leaves nothing behind, wherever it is") {
  // Given up while it waits for prefill, in prefill, in transfer and in decode. sim/laws checks that all blocks are
  // free.
  const auto patience = GENERATE(as<std::int64_t>{}, 1, 9, 11, 14);
  SimulationSpec spec = two_halves();
  spec.pools[0].vllm().max_num_seqs = 1;
  spec.classes[0].timeout = patience * kMs;
  add_list(spec, {arrival(0, 1000, 50), arrival(0, 1000, 50)});
  const auto r = records_by_row(std::move(spec));
  REQUIRE(r.size() == 2);
  for (const RequestRecord& record : r) CHECK(record.outcome == Outcome::kTimedOut);
}

TEST_CASE("a prefix that the decode side holds does not move again") {
  SimulationSpec spec = two_halves();
  for (PoolSpec& pool : spec.pools) pool.vllm().enable_prefix_caching = true;
  std::vector<Arrival> arrivals = {arrival(0, 1000, 2), arrival(1, 1000, 2)};
  for (Arrival& a : arrivals) a.content.prompt = {{7, 0, 800}};
  add_list(spec, std::move(arrivals));
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  CHECK(report.transferred_bytes == 1e6 + 200e3);
  CHECK(r[1].at.transferred - r[1].at.prefilled == 1'200'000);
  CHECK(report.replicas[0].scheduled_tokens == 1200);  // the prefill side holds it too
}

TEST_CASE("a path goes where a typical transfer is fastest") {
  Topology t;
  const auto a = t.add_node("a"), b = t.add_node("b"), far = t.add_node("far"), alone = t.add_node("alone");
  t.connect({a, b, BytesPerSecond(1e9), Seconds(1e-6)});  // 67 ms for 64 MiB
  t.connect({a, far, BytesPerSecond(1e11), Seconds(1e-3)});
  t.connect({b, far, BytesPerSecond(1e11), Seconds(1e-3)});  // 3.3 ms over both
  const Path path = t.path(a, b);
  REQUIRE(path.exists);
  CHECK(path.ways == std::vector<LinkWay>{2, 5});
  CHECK(path.latency.value == Approx(2e-3));
  CHECK(t.path(b, a).ways == std::vector<LinkWay>{4, 3});
  CHECK(t.path(a, a).exists);
  CHECK_FALSE(t.path(a, alone).exists);
}

TEST_CASE("transfers share max-min fairly") {
  // The textbook line: one flow over both links, one on each; the first link is the tighter one.
  Topology t;
  const auto a = t.add_node("a"), b = t.add_node("b"), c = t.add_node("c");
  t.connect({a, b, BytesPerSecond(1e9), Seconds(0)});
  t.connect({b, c, BytesPerSecond(2e9), Seconds(0)});
  Network network(t);
  network.start(1, t.path(a, c), 1e9, 0);
  network.start(2, t.path(a, b), 1e9, 0);
  network.start(3, t.path(b, c), 3e9, 0);
  network.start(4, t.path(c, b), 2e9, 0);  // the other direction is free
  // 1 and 2 get 0.5 GB/s, 3 what is left of the second link, 1.5 GB/s.
  CHECK(network.next() == kNanosPerSecond);
  CHECK(network.arrived(kNanosPerSecond) == std::vector<std::uint64_t>{4});
  CHECK(network.next() == 2 * kNanosPerSecond);
  CHECK(network.arrived(2 * kNanosPerSecond) == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(network.next() == kNever);
  network.start(5, t.path(a, b), 1e9, 3 * kNanosPerSecond);
  CHECK(network.cancel(5, 3 * kNanosPerSecond + 5));
  CHECK_FALSE(network.cancel(5, 3 * kNanosPerSecond + 6));
  CHECK(network.next() == kNever);
}
