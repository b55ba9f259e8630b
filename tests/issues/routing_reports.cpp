// SPDX-License-Identifier: Apache-2.0
// Public reports about routers that know late.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/routing/pipeline.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

struct Use {
  const char* type;
  double weight;
};

routing::PipelineSpec scored_by(const std::vector<Use>& scorers) {
  routing::PipelineSpec spec;
  spec.refs.emplace();
  for (const Use& use : scorers) {
    spec.refs->push_back({spec.plugins.size(), use.weight});
    spec.plugins.push_back({use.type, use.type, {}});
  }
  complete_pipeline(spec);
  return spec;
}

void ask_every(SimulationSpec& spec, SimTime interval) {
  SignalSpec& signals = spec.routing.pool[0].signals;
  signals.waiting.interval = signals.running.interval = signals.kv_usage.interval = interval;
}

void set_pipeline(SimulationSpec& spec, routing::PipelineSpec pipeline) {
  spec.routing.pool[0].pipeline = std::make_shared<routing::PipelineSpec>(std::move(pipeline));
}

/// A request every 0.3 s, each for 0.5 s, on four replicas that are asked every `interval`, behind flow control with
/// llm-d's own detector.
FlowReport light_load(SimTime interval, const char* staleness_policy, Histogram& ttft) {
  SimulationSpec spec = one_pool(fixed_step(0.01), 4);
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 400; ++i) arrivals.push_back(arrival(0.05 + 0.3 * i, 100, 50));
  add_list(spec, std::move(arrivals));
  ask_every(spec, interval);
  routing::PipelineSpec pipeline = scored_by({{"queue-scorer", 2}, {"kv-cache-utilization-scorer", 2}});
  const auto parameters = routing::map_value({{"stalenessPolicy", routing::text_value(staleness_policy)}});
  pipeline.plugins.push_back({"detector", "utilization-detector", parameters});
  pipeline.flow.emplace();
  pipeline.flow->detector = pipeline.plugins.size() - 1;
  set_pipeline(spec, std::move(pipeline));
  const Report report = simulate(std::move(spec));
  CHECK(report.total().outcomes.count(Outcome::kCompleted) == 400);
  ttft = report.total().latencies[Metric::kTtft];
  return report.flows[0];
}

/// Three replicas hold a long request each, of unlike size, and the fourth nothing. Where do 20 more go, which come
/// between 3 s and 4 s?
std::vector<int> burst(SimTime interval) {
  SimulationSpec spec = one_pool(fixed_step(0.01), 4);
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 3; ++i) arrivals.push_back(arrival(0.5 + i, 5000 + 300 * i, 1000));
  for (int i = 0; i < 20; ++i) arrivals.push_back(arrival(3.02 + 0.04 * i, 2000, 500));
  add_list(spec, std::move(arrivals));
  ask_every(spec, interval);
  set_pipeline(spec, scored_by({{"kv-cache-utilization-scorer", 1}}));
  const auto records = records_by_row(std::move(spec));
  std::vector<int> counts(4);
  for (std::size_t i = 3; i < records.size(); ++i) ++counts[records[i].replica.value];
  std::sort(counts.begin(), counts.end());
  return counts;
}

/// The p99 of TTFT on eight replicas near their limit, where only KV use is known late.
double p99_s(const std::vector<Use>& scorers, SimTime interval) {
  auto curve = std::make_shared<KneeCurve>();
  curve->base = 8e-3;
  curve->per_token = 2e-5;
  curve->per_request = 1e-4;
  curve->per_context = curve->per_pair = 0;
  SimulationSpec spec = one_pool(curve, 8);
  spec.pools[0].vllm().max_num_seqs = 64;
  spec.pools[0].vllm().num_gpu_blocks = 4000;
  SynthSpec load;
  load.requests = 6000;
  load.arrivals.rate_per_s = 100;
  load.prompt_tokens = {LengthSpec::Kind::kUniform, 500, 0, 100, 900, {}};
  load.output_tokens = {LengthSpec::Kind::kUniform, 150, 0, 50, 250, {}};
  spec.sources.push_back({make_source(load, ClassId(0u), 0, 1, "w")});
  spec.routing.pool[0].signals.kv_usage.interval = interval;
  set_pipeline(spec, scored_by(scorers));
  return static_cast<double>(simulate(std::move(spec)).total().latencies[Metric::kTtft].quantile(0.99)) / 1e9;
}

}  // namespace

// llm-d/llm-d-router 2408, 2514: 15 s between scrapes against a threshold of 200 ms gave latencies of 11 to 13 s.
TEST_CASE("metrics that are scraped every 15 s read as saturated for all but 200 ms of that") {
  Histogram ttft;
  const FlowReport slow = light_load(15'000 * kMs, "saturated", ttft);
  CHECK(slow.expired == 0);
  CHECK(slow.longest_wait > 14'000 * kMs);
  CHECK(slow.longest_wait <= 14'800 * kMs);
  CHECK(slow.wait / static_cast<SimTime>(slow.dispatched) > 6'000 * kMs);
  CHECK(ttft.quantile(0.9) > 10'000 * kMs);
  CHECK(slow.longest > 40);

  const FlowReport ignored = light_load(15'000 * kMs, "ignore", ttft);
  CHECK(ignored.wait == 0);
  CHECK(ttft.max() < 100 * kMs);
  const FlowReport fast = light_load(50 * kMs, "saturated", ttft);
  CHECK(fast.wait == 0);
}

TEST_CASE("a burst between two scrapes lands on one replica") {
  CHECK(burst(1000 * kMs) == std::vector<int>{0, 0, 0, 20});
  const std::vector<int> at_once = burst(0);
  CHECK(at_once[0] >= 3);
  CHECK(at_once[3] <= 8);
}

// llm-d/llm-d-router 2515.
TEST_CASE("equal scores do not herd where ties are drawn, and the least difference does") {
  SimulationSpec spec = one_pool(fixed_step(0.01), 4);
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 400; ++i) arrivals.push_back(arrival(0.1 + 0.01 * i, 16, 2));
  add_list(spec, std::move(arrivals));
  ask_every(spec, 3600'000 * kMs);  // nobody is asked again: all look alike, and idle
  set_pipeline(spec, scored_by({{"queue-scorer", 2}, {"kv-cache-utilization-scorer", 2}}));
  std::vector<int> counts(4);
  for (const RequestRecord& r : records_by_row(std::move(spec))) ++counts[r.replica.value];
  for (const int count : counts) {  // 100 +- 4 deviations
    CHECK(count > 65);
    CHECK(count < 135);
  }

  SimulationSpec one_ahead = one_pool(fixed_step(0.01), 4);
  arrivals = {arrival(0.5, 16, 900), arrival(1.5, 16, 900), arrival(2.5, 16, 900)};
  for (int i = 0; i < 100; ++i) arrivals.push_back(arrival(3.01 + 0.009 * i, 16, 2));
  add_list(one_ahead, std::move(arrivals));
  ask_every(one_ahead, 1000 * kMs);  // three of a million blocks in use on all but one
  set_pipeline(one_ahead, scored_by({{"kv-cache-utilization-scorer", 1}}));
  const auto records = records_by_row(std::move(one_ahead));
  for (std::size_t i = 4; i < records.size(); ++i) CHECK(records[i].replica == records[3].replica);
}

// inference-sim/inference-sim docs: KV use alone suffers from 100 ms of staleness, a composite with what the router
// itself has in flight hardly does.
TEST_CASE("late KV use hurts a router that has nothing else, and hardly one that counts what it sent") {
  const std::vector<Use> alone = {{"kv-cache-utilization-scorer", 1}};
  const std::vector<Use> composite = {{"queue-scorer", 2},
                                      {"kv-cache-utilization-scorer", 2},
                                      {"prefix-cache-scorer", 3},
                                      {"active-request-scorer", 1}};
  const double alone_now = p99_s(alone, 0), alone_late = p99_s(alone, 100 * kMs);
  const double composite_now = p99_s(composite, 0), composite_late = p99_s(composite, 100 * kMs);
  CHECK(alone_late > 1.5 * alone_now);
  CHECK(composite_late - composite_now < 0.3 * (alone_late - alone_now));
}
