// SPDX-License-Identifier: Apache-2.0
// Engines of one pass behind the simulation: whose answer comes when, and what the replica counts.
#include <catch2/catch.hpp>

#include "models/step_fit.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

/// 10 ms and 1 ms for each token, padding included.
std::shared_ptr<const StepCurve> by_token() {
  StepFit fit;
  fit.base = Seconds(0.010);
  fit.per_token = Seconds(0.001);
  fit.source = "test";
  return make_step_fit(fit);
}

SimulationSpec pool_of(const EngineArgs& engine, std::shared_ptr<const StepCurve> curve) {
  SimulationSpec spec = one_pool(std::move(curve));
  spec.pools[0].engine = engine;
  return spec;
}

struct Run {
  Report report;
  std::vector<RequestRecord> records;  ///< by row
};

Run run(SimulationSpec spec) {
  Recorder recorder;
  Run result;
  result.report = simulate(std::move(spec), {&recorder});
  result.records.resize(recorder.records.size());
  for (const RequestRecord& r : recorder.records) result.records[r.row] = r;
  return result;
}

}  // namespace

TEST_CASE("a batch is padded to its longest request, and all its answers come at its end") {
  TritonArgs args;
  args.max_batch_size = 4;
  args.max_queue_delay_microseconds = 2000;
  SimulationSpec spec = pool_of(args, by_token());
  add_list(spec, {arrival(0, 5, 1), arrival(0.001, 20, 3), arrival(0.001, 10, 1)});
  const Run r = run(std::move(spec));
  for (const RequestRecord& record : r.records) {
    CHECK(record.at.first_scheduled == 2 * kMs);
    CHECK(record.at.first_token == 72 * kMs);  // 10 + 3 x 20
    CHECK(record.at.last_token == 72 * kMs);
  }
  CHECK(r.records[1].output_tokens == 3);
  const ReplicaReport& replica = r.report.replicas[0];
  CHECK(replica.steps == 1);
  CHECK(replica.running_steps == 3);
  CHECK(replica.running_max == 3);
  CHECK(replica.waiting_max == 3);
  CHECK(replica.scheduled_tokens == 35);
  CHECK(replica.padded_tokens == 25);
  CHECK(replica.busy == 70 * kMs);
  CHECK(replica.completed == 3);
}

TEST_CASE("busy is the mean over the instances") {
  TritonArgs args;
  args.instance_count = 2;
  SimulationSpec spec = pool_of(args, fixed_step(0.010));
  add_list(spec, {arrival(0, 5, 1), arrival(0.005, 5, 1)});
  const Run r = run(std::move(spec));
  CHECK(r.records[0].ended == 10 * kMs);
  CHECK(r.records[1].ended == 15 * kMs);
  CHECK(r.report.replicas[0].busy == 10 * kMs);
  CHECK(r.report.replicas[0].instances == 2);
}

TEST_CASE("preserve_ordering holds an answer back until all earlier batches are out") {
  TritonArgs args;
  args.instance_count = 2;
  args.preserve_ordering = GENERATE(false, true);
  SimulationSpec spec = pool_of(args, by_token());
  add_list(spec, {arrival(0, 90, 1), arrival(0.001, 10, 1), arrival(0.002, 30, 1)});
  const Run r = run(std::move(spec));
  CHECK(r.records[0].ended == 100 * kMs);
  CHECK(r.records[1].ended == (args.preserve_ordering ? 100 : 21) * kMs);
  CHECK(r.records[2].at.first_scheduled == 21 * kMs);  // the instance is free all the same
  CHECK(r.records[2].ended == (args.preserve_ordering ? 100 : 61) * kMs);
}

TEST_CASE("the engine's own queue refuses with its reasons") {
  TritonArgs args;
  args.max_batch_size = 1;
  args.default_queue_policy.max_queue_size = 2;
  args.default_queue_policy.default_timeout_microseconds = 15'000;
  SimulationSpec spec = pool_of(args, fixed_step(0.010));
  add_list(spec, {arrival(0, 5, 1), arrival(0.001, 5, 1), arrival(0.002, 5, 1), arrival(0.003, 5, 1)});
  const Run r = run(std::move(spec));
  CHECK(r.records[0].outcome == Outcome::kCompleted);
  CHECK(r.records[1].outcome == Outcome::kCompleted);
  CHECK(r.records[2].outcome == Outcome::kRejected);
  CHECK(r.records[2].reason == Reason::kQueueTimeout);
  CHECK(r.records[2].ended == 20 * kMs);
  CHECK(r.records[2].at.first_scheduled == kNever);
  CHECK(r.records[3].outcome == Outcome::kRejected);
  CHECK(r.records[3].reason == Reason::kQueueFull);
  CHECK(r.records[3].ended == 3 * kMs);
}

TEST_CASE("a cancelled request leaves the queue at once, a batch at its end") {
  TritonArgs args;
  args.max_batch_size = 1;
  SimulationSpec spec = pool_of(args, fixed_step(0.010));
  spec.classes[0].patience = 4 * kMs;
  // 0 runs; 1 and 2 are in payloads that stand in line, 3 in the queue. 1 and 2 are computed for nobody.
  add_list(spec, {arrival(0, 5, 1), arrival(0.001, 5, 1), arrival(0.002, 5, 1), arrival(0.003, 5, 1)});
  const Run r = run(std::move(spec));
  const SimTime ended[] = {10 * kMs, 20 * kMs, 30 * kMs, 7 * kMs};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(r.records[i].outcome == Outcome::kCancelled);
    CHECK(r.records[i].ended == ended[i]);
    CHECK(r.records[i].at.first_token == kNever);
  }
  CHECK(r.report.replicas[0].steps == 3);
  CHECK(r.report.replicas[0].completed == 0);
}

TEST_CASE("a pool that takes no more than it can run counts an instance without batching as one") {
  TritonArgs args;
  args.dynamic_batching = GENERATE(true, false);
  SimulationSpec spec = pool_of(args, fixed_step(0.010));
  spec.pools[0].max_pending_requests = 0;
  add_list(spec, {arrival(0, 5, 1), arrival(0.001, 5, 1), arrival(0.020, 5, 1)});
  const Run r = run(std::move(spec));
  // With batches of four the second one may come: four could run at once.
  CHECK(r.records[1].outcome == (args.dynamic_batching ? Outcome::kCompleted : Outcome::kRejected));
  CHECK(r.records[2].outcome == Outcome::kCompleted);
}

TEST_CASE("the longest input fits, one more token does not") {
  TritonArgs args;
  args.max_tokens = 64;
  SimulationSpec spec = pool_of(args, fixed_step(0.010));
  add_list(spec, {arrival(0, 64, 1), arrival(0, 65, 1)});
  const Run r = run(std::move(spec));
  CHECK(r.records[0].outcome == Outcome::kCompleted);
  CHECK(r.records[1].reason == Reason::kContextLimit);
}

TEST_CASE("a request of several passes takes its batch so many times as long") {
  TritonArgs args;
  args.max_batch_size = 4;
  args.max_queue_delay_microseconds = 1000;
  args.passes = 20;  // the steps of an image
  SimulationSpec spec = pool_of(args, by_token());
  add_list(spec, {arrival(0, 5, 1), arrival(0, 10, 1)});
  const Run r = run(std::move(spec));
  CHECK(r.records[0].ended == (1 + 20 * 30) * kMs);
  CHECK(r.records[1].ended == r.records[0].ended);
  CHECK(r.report.replicas[0].steps == 1);
}

namespace {

/// A random world whose pools are of Triton and of sessions.
SimulationSpec batch_world(std::uint64_t seed) {
  SimulationSpec spec = random_world(seed);
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    const auto pick = static_cast<std::int64_t>(seed + p);
    spec.pools[p].curve = by_token();  // slow enough for queues
    if (pick % 4 == 3) {
      spec.pools[p].engine = SessionArgs{1 + pick % 3, pick % 5, 4, pick % 2 == 0, 200};
      continue;
    }
    TritonArgs args;
    args.max_batch_size = 1 + pick % 7;
    args.max_queue_delay_microseconds = pick % 3 == 0 ? 3000 : 0;
    args.instance_count = 1 + pick % 2;
    args.priority_levels = pick % 5 == 0 ? 3 : 0;
    args.default_priority_level = 2;
    args.preserve_ordering = pick % 2 == 0;
    if (pick % 6 == 0) args.default_queue_policy = {TritonArgs::TimeoutAction::kReject, 9000, 5};
    if (pick % 6 == 1) args.default_queue_policy = {TritonArgs::TimeoutAction::kDelay, 2000, 0};
    spec.pools[p].engine = args;
  }
  return spec;
}

}  // namespace

TEST_CASE("batches keep the laws in 200 random worlds, with deadlines, caps and several pools") {
  std::uint64_t refused = 0, batches = 0, completed = 0;
  std::int64_t in_batches = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("world " << seed);
    Report report;  // making it throws when a law is broken
    const std::string whole = fingerprint_of(batch_world(seed), false, &report);
    const std::string stepwise = fingerprint_of(batch_world(seed), true);
    if (whole != stepwise) FAIL(first_difference(whole, stepwise));
    batches += report.steps;
    for (const ReplicaReport& r : report.replicas) in_batches += r.running_steps;
    completed += report.total().outcomes.count(Outcome::kCompleted);
    refused += report.total().outcomes.reasons[static_cast<std::size_t>(Reason::kQueueTimeout)];
  }
  CHECK(refused > 100);
  CHECK(completed > 10'000);
  CHECK(in_batches > static_cast<std::int64_t>(batches) * 5 / 4);
}
