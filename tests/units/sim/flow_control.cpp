// SPDX-License-Identifier: Apache-2.0
// Flow control in a run: who waits before a pool, for how long, and what becomes of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/routing/pipeline.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

/// Lets one request at a time be in flight; a step takes 10 ms.
SimulationSpec one_at_a_time(FlowControlSpec flow = {}) {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.stepwise = GENERATE(false, true);
  routing::PipelineSpec pipeline;
  pipeline.plugins = {
      {"queue-scorer", "queue-scorer", {}},
      {"detector", "concurrency-detector", routing::map_value({{"maxConcurrency", routing::number_value(1)}})}};
  pipeline.refs = {{0, 1}};
  complete_pipeline(pipeline);
  flow.detector = 1;
  pipeline.flow = flow;
  spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(pipeline);
  return spec;
}

}  // namespace

TEST_CASE("a request waits at the gateway until the one before it has ended, and that counts as its delay") {
  SimulationSpec spec = one_at_a_time();
  add_list(spec, {arrival(0, 100, 5), arrival(0.001, 100, 5), arrival(0.002, 100, 5)});
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  for (std::size_t i = 0; i < 3; ++i) {
    INFO(i);
    const auto begin = static_cast<SimTime>(i) * 50 * kMs;
    CHECK(r[i].at.routed == begin);
    CHECK(r[i].at.first_scheduled == begin);
    CHECK(r[i].at.first_token == begin + 10 * kMs);
    CHECK(r[i].at.last_token == begin + 50 * kMs);
  }
  CHECK(report.total().latencies[Metric::kQueueDelay].max() == 98 * kMs);
  const FlowReport& flow = report.flows[0];
  CHECK(flow.came == 3);
  CHECK(flow.dispatched == 3);
  CHECK(flow.longest == 2);
  CHECK(flow.wait == (49 + 98) * kMs);
  CHECK(report.replicas[0].waiting_max == 1);  // never more than the one that is let go
}

TEST_CASE("the urgent go first, by priorities that fall with urgency") {
  SimulationSpec spec = one_at_a_time();
  add_list(spec,
           {arrival(0, 100, 5), arrival(0.001, 100, 5, 0), arrival(0.002, 100, 5, -10), arrival(0.003, 100, 5, 3)});
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  CHECK(r[2].at.routed == 50 * kMs);
  CHECK(r[1].at.routed == 100 * kMs);
  CHECK(r[3].at.routed == 150 * kMs);
}

TEST_CASE("a queue that is full turns away, and one that waits too long expires; exactly in time is in time") {
  FlowControlSpec flow;
  flow.ttl = 50 * kMs;
  flow.max_requests = 3;
  SimulationSpec spec = one_at_a_time(flow);
  add_list(spec, {arrival(0, 100, 5), arrival(0, 100, 5), arrival(0.01, 100, 5), arrival(0.02, 100, 5),
                  arrival(0.03, 100, 5)});
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  CHECK(r[1].at.routed == 50 * kMs);  // just when it would have expired
  CHECK(r[2].reason == Reason::kFlowExpired);
  CHECK(r[2].ended == 60 * kMs);
  CHECK(r[2].pool == PoolId(0u));
  CHECK_FALSE(r[2].replica.valid());
  CHECK(r[3].reason == Reason::kFlowExpired);
  CHECK(r[4].reason == Reason::kFlowQueueFull);
  CHECK(r[4].ended == 30 * kMs);
  CHECK(report.flows[0].expired == 2);
  CHECK(report.flows[0].found_full == 1);
}

TEST_CASE("time-outs and patience strike requests that wait at the gateway") {
  SimulationSpec spec = one_at_a_time();
  spec.classes[0].timeout = 200 * kMs;
  spec.classes.push_back({.name = "impatient", .model = ModelId(0u), .patience = 30 * kMs, .objectives = {}});
  std::vector<Arrival> arrivals = {arrival(0, 100, 20), arrival(0.001, 100, 20), arrival(0.002, 100, 20)};
  arrivals[2].cls = ClassId(1u);
  add_list(spec, arrivals);
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  CHECK(r[0].outcome == Outcome::kCompleted);
  CHECK(r[1].outcome == Outcome::kTimedOut);  // it is let go at 200 ms and has a millisecond left
  CHECK(r[2].outcome == Outcome::kCancelled);
  CHECK(r[2].reason == Reason::kPatience);
  CHECK(r[2].ended == 32 * kMs);
  CHECK(report.flows[0].given_up == 1);
  CHECK(report.flows[0].dispatched == 2);
}

TEST_CASE("requests before a pool that is stuck wait until it is given up, and then go") {
  FlowControlSpec flow;
  flow.ttl = kNever;
  SimulationSpec spec = one_at_a_time(flow);
  auto pipeline = std::make_shared<routing::PipelineSpec>(*spec.routing.pool[0].pipeline);
  pipeline->plugins[1].parameters = routing::map_value({{"maxConcurrency", routing::number_value(2)}});
  spec.routing.pool[0].pipeline = pipeline;
  spec.routing.pool[0].signals.waiting.interval = 10 * kMs;  // somebody looks again and again
  VllmArgs& engine = spec.pools[0].vllm();
  engine.enable_chunked_prefill = false;
  engine.max_num_batched_tokens = 40;
  engine.num_gpu_blocks = 6;
  // The second is preempted with 41 tokens, one more than a step may hold. The third comes when only it is left, and
  // the fourth finds no room before the pool is given up.
  add_list(spec, {arrival(0, 30, 40), arrival(0.005, 39, 30), arrival(1, 39, 30), arrival(1.005, 10, 2)});
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  REQUIRE(r.size() == 4);
  CHECK(r[0].outcome == Outcome::kCompleted);
  CHECK(r[1].reason == Reason::kStalled);
  CHECK(r[3].outcome == Outcome::kCompleted);
  CHECK(r[2].reason == Reason::kStalled);
  CHECK(r[3].at.routed == r[2].ended);
}
