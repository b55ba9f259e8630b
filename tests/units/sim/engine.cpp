// SPDX-License-Identifier: Apache-2.0
// Small runs whose every instant can be worked out by hand. A step takes 10 ms unless a case says otherwise.
#include <catch2/catch.hpp>

#include "models/step_fit.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

std::vector<RequestRecord> records_of(SimulationSpec spec, Report* report = nullptr) {
  Recorder recorder;
  Report r = simulate(std::move(spec), {&recorder});
  if (report) *report = std::move(r);
  return recorder.records;
}

SimulationSpec ten_ms_pool(std::int64_t max_num_seqs = 128) {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.pools[0].vllm().max_num_seqs = max_num_seqs;
  return spec;
}

}  // namespace

TEST_CASE("the instants of a lone request") {
  SimulationSpec spec = ten_ms_pool();
  add_list(spec, {arrival(1.0, 100, 3)});
  Report report;
  const RequestRecord r = records_of(std::move(spec), &report).at(0);
  CHECK(r.at.intended == 1000 * kMs);
  CHECK(r.at.sent == 1000 * kMs);
  CHECK(r.at.first_scheduled == 1000 * kMs);
  CHECK(r.at.first_token == 1010 * kMs);
  CHECK(r.at.last_token == 1030 * kMs);
  CHECK(r.ended == 1030 * kMs);
  CHECK(r.output_tokens == 3);
  const Cell total = report.total();
  CHECK(total.latencies[Metric::kTtft].mean() == 10 * kMs);
  CHECK(total.latencies[Metric::kTpot].mean() == 10 * kMs);
  CHECK(total.latencies[Metric::kItl].count() == 2);
  CHECK(total.latencies[Metric::kE2e].mean() == 30 * kMs);
  CHECK(total.latencies[Metric::kNtpot].mean() == 10 * kMs);
  CHECK(report.replicas[0].busy == 30 * kMs);
  CHECK(report.steps == 3);
}

TEST_CASE("tokens sent four at a time move ITL and nothing else") {
  SimulationSpec spec = ten_ms_pool();
  spec.pools[0].vllm().stream_interval = 4;
  // Tokens 1, 5 and 9 go out as they come, and 11, the last.
  add_list(spec, {arrival(0, 100, 11)});
  Report report;
  const RequestRecord r = records_of(std::move(spec), &report).at(0);
  CHECK(r.at.first_token == 10 * kMs);
  CHECK(r.at.last_token == 110 * kMs);
  const Cell total = report.total();
  CHECK(total.latencies[Metric::kTpot].mean() == 10 * kMs);
  const Histogram itl = total.latencies[Metric::kItl];
  CHECK(itl.count() == 3);
  CHECK(itl.mean() == Approx(100.0 / 3 * kMs));
  CHECK(itl.max() == 40 * kMs);
  CHECK(itl.count_at_most(21 * kMs) == 1);
  CHECK(report.leaps > 0);
}

TEST_CASE("a message that a prompt of another holds up comes late") {
  SimulationSpec spec = ten_ms_pool();
  spec.pools[0].vllm().stream_interval = 2;
  spec.pools[0].vllm().max_num_batched_tokens = 128;
  auto curve = std::make_shared<KneeCurve>();
  curve->base = 0.01, curve->per_token = 0.001, curve->per_request = curve->per_context = curve->beyond = 0;
  curve->per_pair = 0;
  spec.pools[0].curve = curve;
  // Steps: 30 ms (20 prompt tokens), 10, then 40 ms with the prompt of 30 beside, 10, 10. Messages of the first at
  // 30 ms, with its third token at 80 and with its fifth at 100; of the second at 80 and, its last, at 90.
  add_list(spec, {arrival(0, 20, 5), arrival(0.035, 30, 2)});
  Report report;
  records_of(std::move(spec), &report);
  const Histogram itl = report.total().latencies[Metric::kItl];
  CHECK(itl.count() == 3);
  CHECK(itl.max() == 50 * kMs);
  CHECK(itl.mean() == Approx((50.0 + 20 + 10) / 3 * kMs));
}

TEST_CASE("an arrival during a step waits for its end, one at the boundary does not") {
  SimulationSpec spec = ten_ms_pool();
  add_list(spec, {arrival(0, 10, 100), arrival(0.015, 10, 1), arrival(0.030, 10, 1)});
  const auto records = records_of(std::move(spec));
  REQUIRE(records.size() == 3);
  CHECK(records[0].at.first_scheduled == 20 * kMs);
  CHECK(records[1].at.first_scheduled == 30 * kMs);
}

TEST_CASE("a request that can never fit is rejected with the reason, and the rest goes on") {
  SimulationSpec spec = ten_ms_pool();
  spec.pools[0].vllm().num_gpu_blocks = 11;  // 10 blocks of 16
  add_list(spec, {arrival(0, 100, 62), arrival(0, 100, 61), arrival(0, 1'000'000, 1)});
  const auto records = records_of(std::move(spec));
  REQUIRE(records.size() == 3);
  CHECK(records[0].outcome == Outcome::kRejected);
  CHECK(records[0].reason == Reason::kKvCapacity);
  CHECK(records[1].outcome == Outcome::kRejected);
  CHECK(records[1].reason == Reason::kContextLimit);
  CHECK(records[2].outcome == Outcome::kCompleted);  // 161 tokens, the last one never stored: 160 = 10 blocks
}

TEST_CASE("a prompt beyond the token budget is rejected when chunked prefill is off") {
  SimulationSpec spec = ten_ms_pool();
  spec.pools[0].vllm().enable_chunked_prefill = false;
  spec.pools[0].vllm().max_num_batched_tokens = 64;
  add_list(spec, {arrival(0, 65, 1), arrival(0, 64, 1)});
  const auto records = records_of(std::move(spec));
  CHECK(records[0].reason == Reason::kTokenBudget);
  CHECK(records[1].outcome == Outcome::kCompleted);
}

TEST_CASE("a request too long for one pool goes to the other, and to none when too long for both") {
  SimulationSpec spec = ten_ms_pool();
  spec.pools.push_back(spec.pools[0]);
  spec.pools[1].name = "roomy";
  spec.pools[0].vllm().max_model_len = 100;
  spec.pools[1].vllm().max_model_len = 1000;
  spec.models[0].implementations.push_back({.pool = PoolId(1u)});
  spec.routing.pool.resize(2);
  add_list(spec, {arrival(0, 90, 20), arrival(0, 900, 200), arrival(0, 10, 10), arrival(0, 10, 10)});
  SECTION("rejected") {
    const auto records = records_of(std::move(spec));
    REQUIRE(records.size() == 4);
    for (const RequestRecord& r : records) {
      if (r.row == 0) CHECK(r.pool == PoolId(1u));
      if (r.row == 1) CHECK(r.reason == Reason::kContextLimit);
      CHECK((r.outcome == Outcome::kCompleted) == (r.row != 1));
    }
  }
  SECTION("truncated to the roomiest pool") {
    spec.models[0].on_too_long = TooLong::kTruncate;
    Report report;
    const auto records = records_of(std::move(spec), &report);
    CHECK(report.truncated_requests == 1);
    for (const RequestRecord& r : records) {
      if (r.row == 1) CHECK(r.prompt_tokens + r.output_tokens == 1000);
    }
  }
}

TEST_CASE("a time-out ends a request at the step boundary, a lost patience only before the first token") {
  SimulationSpec spec = ten_ms_pool(1);
  SECTION("time-out of a running and of a waiting request") {
    spec.classes[0].timeout = 25 * kMs;
    add_list(spec, {arrival(0, 10, 100), arrival(0.001, 10, 1)});
    const auto records = records_of(std::move(spec));
    CHECK(records[0].row == 1);  // it never ran: gone at once, at 26 ms
    CHECK(records[0].outcome == Outcome::kTimedOut);
    CHECK(records[0].ended == 26 * kMs);
    CHECK(records[1].ended == 30 * kMs);  // the step in progress at 25 ms ends first
    CHECK(records[1].output_tokens == 3);
    CHECK(records[1].reason == Reason::kTimeout);
  }
  SECTION("patience") {
    spec.classes[0].patience = 25 * kMs;
    add_list(spec, {arrival(0, 10, 100), arrival(0.001, 10, 1)});
    const auto records = records_of(std::move(spec));
    CHECK(records[0].outcome == Outcome::kCancelled);
    CHECK(records[0].reason == Reason::kPatience);
    CHECK(records[1].outcome == Outcome::kCompleted);
  }
  SECTION("a token at the very deadline is in time") {
    spec.classes[0].timeout = 30 * kMs;
    add_list(spec, {arrival(0, 10, 3)});
    CHECK(records_of(std::move(spec))[0].outcome == Outcome::kCompleted);
  }
}

TEST_CASE("a run ends with its last request, not with a time-out that nobody misses") {
  SimulationSpec spec = ten_ms_pool();
  spec.classes[0].timeout = 600'000 * kMs;
  add_list(spec, {arrival(0, 20, 5)});
  Report report;
  records_of(std::move(spec), &report);
  CHECK(report.end == 50 * kMs);
}

TEST_CASE("a replica that keeps preempting without ending anything is stopped and reported") {
  const bool stepwise = GENERATE(false, true);
  SimulationSpec spec = ten_ms_pool();
  spec.stepwise = stepwise;
  spec.pools[0].vllm().num_gpu_blocks = 4;  // 3 blocks of 16
  spec.stall_preemptions = 1;               // far below what a real livelock takes
  // The second request fills its block at step 7, finds no other and gives way. The run ends with that step or leap.
  add_list(spec, {arrival(0, 20, 28), arrival(0, 10, 28)});
  Report report;
  const auto records = records_of(std::move(spec), &report);
  REQUIRE(records.size() == 2);
  for (const RequestRecord& r : records) {
    CHECK(r.outcome == Outcome::kFailed);
    CHECK(r.reason == Reason::kStalled);
    CHECK(r.ended == 80 * kMs);
  }
  CHECK(report.replicas[0].stalled);
}

TEST_CASE("a step in which a request gives way to itself and nobody else is served costs no time") {
  SimulationSpec spec = ten_ms_pool();
  spec.stepwise = GENERATE(false, true);
  VllmArgs& engine = spec.pools[0].vllm();
  engine.policy = VllmArgs::Policy::kPriority;
  engine.block_size = 1;
  engine.num_gpu_blocks = 9;  // 8 blocks of 1
  engine.scheduler_reserve_full_isl = false;
  // After 20 ms both have their prompts and all blocks. The first, which is less urgent, stands first in the list: it
  // asks for a block, gives way itself, and with that the step is over. The second goes on at once.
  add_list(spec, {arrival(0, 4, 5, 1), arrival(0.001, 3, 4, 0)});
  const auto records = records_of(std::move(spec));
  REQUIRE(records.size() == 2);
  CHECK(records[0].ended == 50 * kMs);  // a token at 20, 30, 40 and 50 ms
  CHECK(records[1].outcome == Outcome::kCompleted);
  CHECK(records[1].preemptions == 1);
}

TEST_CASE("a request that its replica can never schedule again fails as stalled when nothing else is due") {
  SimulationSpec spec = ten_ms_pool();
  VllmArgs& engine = spec.pools[0].vllm();
  engine.enable_chunked_prefill = false;
  engine.max_num_batched_tokens = 40;
  engine.num_gpu_blocks = 6;  // 5 blocks of 16
  // 2 + 3 blocks. At its 33rd token the first request takes a third block from the second, which has 41 tokens by then:
  // one more than a step may hold, and it may not be cut.
  add_list(spec, {arrival(0, 30, 40), arrival(0.005, 39, 30)});
  const auto records = records_of(std::move(spec));
  REQUIRE(records.size() == 2);
  CHECK(records[0].outcome == Outcome::kCompleted);
  CHECK(records[1].outcome == Outcome::kFailed);
  CHECK(records[1].reason == Reason::kStalled);
  CHECK(records[1].preemptions == 1);
}

TEST_CASE("warm-up requests are simulated and counted apart") {
  SimulationSpec spec = ten_ms_pool();
  spec.measure.warm_up_requests = 1;
  spec.measure.warm_up = 500 * kMs;
  spec.measure.until = 2000 * kMs;
  add_list(spec, {arrival(0, 10, 2), arrival(0.4, 10, 2), arrival(1, 10, 2), arrival(2, 10, 2)});
  Report report;
  const auto records = records_of(std::move(spec), &report);
  CHECK(records.size() == 4);
  CHECK(report.warm_up_requests == 3);
  CHECK(report.total().outcomes.offered == 1);
  CHECK(report.total().latencies[Metric::kItl].count() == 1);
  CHECK(report.replicas[0].requests == 4);
}

TEST_CASE("under a fixed split, swapping one pool's accelerator changes that pool and no other") {
  const auto run = [](double second_step) {
    SimulationSpec spec = ten_ms_pool();
    spec.pools.push_back(spec.pools[0]);
    spec.pools[1].name = "second";
    spec.pools[1].curve = fixed_step(second_step);
    spec.models[0].implementations.push_back({.pool = PoolId(1u)});
    spec.routing.gateway = {"weighted", {1, 1}};
    spec.routing.pool.resize(2);
    std::vector<Arrival> list;
    for (int i = 0; i < 200; ++i) list.push_back(arrival(i * 1.0, 100, 20));
    add_list(spec, list);
    return simulate(std::move(spec));
  };
  const Report fast = run(0.01), slow = run(0.03);
  CHECK(fast.of_pool(PoolId(0u)).latencies.by_metric == slow.of_pool(PoolId(0u)).latencies.by_metric);
  const Cell a = fast.of_pool(PoolId(1u)), b = slow.of_pool(PoolId(1u));
  CHECK(a.outcomes.offered == b.outcomes.offered);
  CHECK(a.outcomes.offered > 60);
  // Requests never meet, so the slower pool is slower by exactly the ratio of its steps.
  for (const Metric m : {Metric::kTtft, Metric::kTpot, Metric::kItl, Metric::kE2e}) {
    CHECK(b.latencies[m].mean() == 3 * a.latencies[m].mean());
  }
}

TEST_CASE("least-request over four replicas spreads 2,000 requests that hardly queue") {
  SimulationSpec spec = one_pool(fixed_step(0.01), 4);
  spec.routing.pool[0].name = "least-request";
  std::vector<Arrival> list;
  for (int i = 0; i < 2000; ++i) list.push_back(arrival(i * 0.05, 10, 10));  // 100 ms each: about two at a time
  add_list(spec, list);
  const Report report = simulate(std::move(spec));
  for (const ReplicaReport& r : report.replicas) {
    CHECK(r.requests > 400);
    CHECK(r.requests < 600);
  }
}

TEST_CASE("a closed loop keeps at most its users in flight and sends again after the think time") {
  SimulationSpec spec = ten_ms_pool();
  ClosedLoopSpec loop;
  loop.users = 2;
  loop.requests = 6;
  loop.think_time = {ThinkSpec::Kind::kFixed, Seconds(0.1), 0};
  loop.prompt_tokens = {LengthSpec::Kind::kFixed, 10, 0, 1, INT64_MAX, {}};
  loop.output_tokens = {LengthSpec::Kind::kFixed, 5, 0, 1, INT64_MAX, {}};
  SourceSpec source;
  source.source = make_source(loop, ClassId(0u), 0, 1, "workload/0");
  spec.sources.push_back(std::move(source));
  const auto records = records_of(std::move(spec));
  REQUIRE(records.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(records[i].at.sent == static_cast<SimTime>(i / 2) * 150 * kMs);
}

TEST_CASE("a run that keeps up is stationary, an overloaded one is not") {
  const auto run = [](double load) {
    SimulationSpec spec = ten_ms_pool(1);
    SynthSpec synth;
    synth.requests = 20'000;
    synth.arrivals.rate_per_s = load;  // a service takes 1 s
    synth.prompt_tokens = {LengthSpec::Kind::kFixed, 1, 0, 1, INT64_MAX, {}};
    synth.output_tokens = {LengthSpec::Kind::kExponential, 100, 0, 1, INT64_MAX, {}};
    SourceSpec source;
    source.source = make_source(synth, ClassId(0u), 0, 5, "workload/0");
    spec.sources.push_back(std::move(source));
    return simulate(std::move(spec));
  };
  CHECK(run(0.5).stationary);
  CHECK(run(0.8).stationary);
  CHECK(run(0.9).stationary);
  const Report overloaded = run(1.1);
  CHECK_FALSE(overloaded.stationary);
  CHECK(overloaded.backlog_growth_per_s == Approx(0.1).epsilon(0.3));
}

TEST_CASE("a window that cuts the load is as long as it says") {
  SimulationSpec spec = ten_ms_pool();
  spec.measure.warm_up = 1000 * kMs;
  spec.measure.until = 3000 * kMs;
  std::vector<Arrival> list;
  for (int i = 0; i < 50; ++i) list.push_back(arrival(i * 0.1, 10, 80));  // each stays for 800 ms
  add_list(spec, list);
  const Report report = simulate(std::move(spec));
  CHECK(report.measured_begin == 1000 * kMs);
  CHECK(report.measured_end == 3000 * kMs);
  CHECK(report.total().outcomes.offered == 20);
}

TEST_CASE("requests that a capped client holds back count as backlog") {
  SimulationSpec spec = ten_ms_pool();
  std::vector<Arrival> list;
  for (int i = 0; i < 2000; ++i) list.push_back(arrival(i * 0.02, 10, 10));  // 100 ms each, one at a time
  add_list(spec, list);
  spec.sources[0].max_concurrency = 1;
  const Report report = simulate(std::move(spec));
  CHECK_FALSE(report.stationary);
  CHECK(report.backlog_growth_per_s == Approx(40).epsilon(0.1));
}

TEST_CASE("a run that passes the end of the clock is given up with a message, not with a wrong answer") {
  SimulationSpec spec = one_pool(fixed_step(1e9));  // 32 years a step
  add_list(spec, {arrival(0, 10, 10)});
  CHECK_THROWS_WITH(simulate(std::move(spec)), Catch::Contains("292 years"));
}
