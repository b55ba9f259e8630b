// SPDX-License-Identifier: Apache-2.0
// Sessions and batches of one request are plain queues with a constant service time, of which theory knows the answer.
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr double kService = 0.1;

SimulationSpec queue(const EngineArgs& engine, double rate_per_s, std::uint64_t seed) {
  SimulationSpec spec = one_pool(fixed_step(kService));
  spec.pools[0].engine = engine;
  spec.seed = seed;
  spec.measure.warm_up_requests = 4'000;
  SynthSpec synth;
  synth.requests = 40'000;
  synth.arrivals.rate_per_s = rate_per_s;
  synth.prompt_tokens = {LengthSpec::Kind::kFixed, 100, 0, 1, INT64_MAX, {}};
  synth.output_tokens = {LengthSpec::Kind::kFixed, 1, 0, 1, INT64_MAX, {}};
  SourceSpec source;
  source.source = make_source(synth, ClassId(0u), 0, seed, "workload/0");
  spec.sources.push_back(std::move(source));
  return spec;
}

double wait_s(const Report& r) { return r.total().latencies[Metric::kQueueDelay].mean() * 1e-9; }

/// Mean wait against theory over independent replications.
void expect_wait(const EngineArgs& engine, double rate_per_s, double theory, double tolerance) {
  constexpr int kReplications = 16;
  double sum = 0, squares = 0;
  for (int i = 0; i < kReplications; ++i) {
    const double x = wait_s(simulate(queue(engine, rate_per_s, 100 + static_cast<std::uint64_t>(i))));
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kReplications;
  const double error = std::sqrt((squares / kReplications - mean * mean) / (kReplications - 1));
  INFO("mean " << mean << " theory " << theory << " standard error " << error);
  CHECK(error < tolerance * theory);
  CHECK(std::abs(mean - theory) < 3.5 * error);
}

SessionArgs sessions(std::int64_t count) {
  SessionArgs args;
  args.instance_count = count;
  args.physical_cores = 4 * count;
  args.intra_op_num_threads = 4;  // each has its own cores
  return args;
}

}  // namespace

TEST_CASE("one session is M/D/1: it waits rho / (2 (1 - rho)) service times") {
  expect_wait(sessions(1), 7, 0.5 * 0.7 / 0.3 * kService, 0.02);
}

TEST_CASE("one instance of Triton without batching is M/D/1 as well") {
  TritonArgs args;
  args.dynamic_batching = GENERATE(true, false);
  args.max_batch_size = 1;
  expect_wait(args, 7, 0.5 * 0.7 / 0.3 * kService, 0.02);
}

TEST_CASE("sessions that share all cores are no slower together than one alone: M/D/1 in work") {
  // Processor sharing among two keeps the total speed, so the busy time is that of one server.
  SessionArgs args;
  args.instance_count = 2;
  args.physical_cores = 8;
  args.allow_spinning = false;
  const Report shared = simulate(queue(args, 7, 5));
  const Report alone = simulate(queue(sessions(1), 7, 5));
  const auto busy_both = static_cast<double>(shared.replicas[0].busy) * 2;
  CHECK(busy_both > static_cast<double>(alone.replicas[0].busy));  // two run at once now and then, each more slowly
  CHECK(std::abs(static_cast<double>(shared.end - alone.end)) <= kService * 1e9);
}

TEST_CASE("three sessions serve evenly spaced requests as three servers do") {
  // Every 50 ms one comes; a run takes 300 ms at a third of the device. Server k mod 3 takes request k when it is free:
  // request k starts at max(50 k, start of request k - 3 + 300).
  SimulationSpec spec = one_pool(fixed_step(kService));
  spec.pools[0].engine = sessions(3);
  std::vector<Arrival> arrivals;
  for (int k = 0; k < 30; ++k) arrivals.push_back(arrival(0.05 * k, 10, 1));
  add_list(spec, std::move(arrivals));
  Recorder recorder;
  simulate(std::move(spec), {&recorder});
  std::vector<SimTime> start(30);
  for (std::size_t k = 0; k < 30; ++k) {
    start[k] = static_cast<SimTime>(k) * 50'000'000;
    if (k >= 3) start[k] = std::max(start[k], start[k - 3] + 300'000'000);
    CHECK(recorder.records[k].row == k);
    CHECK(recorder.records[k].at.first_scheduled == start[k]);
    CHECK(recorder.records[k].ended == start[k] + 300'000'000);
  }
}
