// SPDX-License-Identifier: Apache-2.0
#include "sim/latency_predictor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/routing/aliases.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

/// A step takes 10 ms, 10 us for a token of a prompt, 1 ms for a request that decodes, 1 us for a token of its context.
std::shared_ptr<const StepCurve> curve() {
  auto made = std::make_shared<KneeCurve>();
  made->base = 10e-3;
  made->per_token = 10e-6;
  made->per_request = 1e-3;
  made->per_context = 1e-6;
  made->per_pair = 0;
  return made;
}

SimulationSpec world(std::vector<Objective> objectives, std::int32_t replicas = 1) {
  SimulationSpec spec = one_pool(curve(), replicas);
  spec.pools[0].vllm().max_num_batched_tokens = 2048;
  spec.classes[0].objectives = std::move(objectives);
  return spec;
}

/// Of 1,000 blocks of 16 tokens a quarter is in use; a prompt of 900 tokens, 500 of which are not cached.
routing::LatencyPrediction predicted(const SimulationSpec& spec) {
  routing::Endpoints e;
  e.reset(1);
  e.latency.resize(1);
  e.waiting = {2};
  e.running = {3};
  e.kv_usage = {0.25};
  e.in_flight_requests = {5};
  e.in_flight_tokens = {5000};
  e.uncached_tokens = {500};
  LatencyPredictor(spec, spec.pools[0], 1000).predict(ClassId(0u), 900, e);
  return e.latency[0];
}

}  // namespace

TEST_CASE("TTFT is predicted by the prompts ahead and TPOT by the requests that run, on the pool's own curve") {
  const auto p =
      predicted(world({{Metric::kTtft, 99, 70 * kMs}, {Metric::kTtft, 50, 60 * kMs}, {Metric::kTpot, 99, 20 * kMs}}));
  CHECK(p.known);
  CHECK(p.dispatched_requests == 5);
  // Ahead are 2 prompts of 5000 / 5 tokens, with its own 2,500: a step of 2,048 and one of 452, each with three
  // requests of 4,000 tokens: 10 + 20.48 + 3 + 4 and 10 + 4.52 + 3 + 4.
  CHECK(p.ttft_ms == Approx(37.48 + 21.52));
  // Four requests with 4,000 + 901 tokens.
  CHECK(p.tpot_ms == Approx(10 + 4 + 4.901));
  CHECK(p.ttft_headroom_ms == Approx(60 - 59.0));
  CHECK(p.tpot_headroom_ms == Approx(20 - 18.901));
}

TEST_CASE("an objective that a class does not have tells nothing; without any the quickest is best") {
  const auto ttft = predicted(world({{Metric::kTtft, 99, 50 * kMs}}));
  CHECK(ttft.ttft_headroom_ms == Approx(50 - 59.0));
  CHECK(ttft.tpot_headroom_ms == 0);
  const auto none = predicted(world({}));
  CHECK(none.ttft_headroom_ms == Approx(-59.0));
  CHECK(none.tpot_headroom_ms == Approx(-18.901));
}

TEST_CASE("an idle replica is predicted its own prompt alone, and ranks share what a replica holds") {
  SimulationSpec spec = world({});
  routing::Endpoints e;
  e.reset(1);
  e.latency.resize(1);
  e.uncached_tokens = {0};  // all of it is cached: its last token is computed
  LatencyPredictor(spec, spec.pools[0], 1000).predict(ClassId(0u), 900, e);
  CHECK(e.latency[0].ttft_ms == Approx(10.01));
  CHECK(e.latency[0].tpot_ms == Approx(10 + 1 + 0.901));
  spec.pools[0].ranks = 2;
  e.running = {6};
  e.kv_usage = {0.25};  // of 500 blocks a rank
  LatencyPredictor(spec, spec.pools[0], 1000).predict(ClassId(0u), 900, e);
  CHECK(e.latency[0].tpot_ms == Approx(10 + 4 + 2.901));
}

TEST_CASE("slo-pack-load fills one replica as long as its objective holds, slo-least-load spreads") {
  // A batch of three decodes in 13 ms and more, one of four in 14 ms and more; the objective is 13.9 ms.
  const auto sent = [](const char* policy) {
    SimulationSpec spec = world({{Metric::kTpot, 99, 13'900'000}}, 3);
    spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(routing::find_alias(policy)->make());
    std::vector<Arrival> arrivals;
    for (int i = 0; i < 6; ++i) arrivals.push_back(arrival(0.1 * i, 20, 200));
    add_list(spec, std::move(arrivals));
    std::vector<int> counts(3);
    for (const RequestRecord& r : records_by_row(std::move(spec))) ++counts[r.replica.value];
    std::sort(counts.begin(), counts.end());
    return counts;
  };
  CHECK(sent("slo-pack-load") == std::vector<int>{0, 3, 3});
  CHECK(sent("slo-least-load") == std::vector<int>{2, 2, 2});
}
