// SPDX-License-Identifier: Apache-2.0
// Scenarios so plain that queueing theory knows their answer. A request of n tokens holds its server for n steps of a
// fixed millisecond, so the distribution of output lengths is that of service times.
#include <catch2/catch.hpp>

#include <cmath>

#include "models/step_fit.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr double kStep = 1e-3;
constexpr double kMeanTokens = 1000;
constexpr double kService = kStep * kMeanTokens;  // 1 s

struct Queue {
  double load = 0.7;  ///< offered, per server
  std::int64_t servers = 1;
  std::int64_t batch = 0;  ///< max_num_seqs; 0 = servers
  LengthSpec service{LengthSpec::Kind::kExponential, kMeanTokens, 0, 1, INT64_MAX, {}};
  std::int64_t max_pending = INT64_MAX;
  std::shared_ptr<const StepCurve> curve = fixed_step(kStep);
  std::uint64_t requests = 40'000;
};

Report run(const Queue& q, std::uint64_t seed) {
  SimulationSpec spec = one_pool(q.curve);
  spec.seed = seed;
  VllmArgs& engine = spec.pools[0].vllm();
  engine.max_num_seqs = q.batch > 0 ? q.batch : q.servers;
  engine.max_num_batched_tokens = 100'000;
  engine.num_gpu_blocks = 1'000'000'000;
  engine.max_model_len = 100'000'000;
  spec.pools[0].max_pending_requests = q.max_pending;
  spec.measure.warm_up_requests = 4'000;
  SynthSpec synth;
  synth.requests = q.requests;
  synth.arrivals.rate_per_s = q.load * static_cast<double>(q.servers) / kService;
  synth.prompt_tokens = {LengthSpec::Kind::kFixed, 1, 0, 1, INT64_MAX, {}};
  synth.output_tokens = q.service;
  SourceSpec source;
  source.source = make_source(synth, ClassId(0u), 0, seed, "workload/0");
  spec.sources.push_back(std::move(source));
  return simulate(std::move(spec));
}

/// Mean and standard error of `value` over independent replications.
template <class Value>
void expect_mean(const Queue& q, double theory, double tolerance, Value value) {
  constexpr int kReplications = 16;
  double sum = 0, squares = 0;
  for (int i = 0; i < kReplications; ++i) {
    const double x = value(run(q, 100 + static_cast<std::uint64_t>(i)));
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kReplications;
  const double error = std::sqrt((squares / kReplications - mean * mean) / (kReplications - 1));
  INFO("mean " << mean << " theory " << theory << " standard error " << error);
  CHECK(error < tolerance * theory);                              // sharp enough to say something
  CHECK(std::abs(mean - theory) < 3.5 * error + 0.002 * theory);  // 0.2 %: tokens are whole, starts wait for a step
}

double wait_s(const Report& r) { return r.total().latencies[Metric::kQueueDelay].mean() * 1e-9; }
double stay_s(const Report& r) { return r.total().latencies[Metric::kE2e].mean() * 1e-9; }

}  // namespace

TEST_CASE("M/M/1 waits rho / (1 - rho) service times") {
  Queue q;
  expect_mean(q, 0.7 / 0.3 * kService, 0.03, wait_s);
}

TEST_CASE("M/D/1 waits half as long as M/M/1") {
  Queue q;
  q.service = {LengthSpec::Kind::kFixed, kMeanTokens, 0, 1, INT64_MAX, {}};
  expect_mean(q, 0.5 * 0.7 / 0.3 * kService, 0.02, wait_s);
}

TEST_CASE("M/G/1 waits as Pollaczek and Khinchine say") {
  Queue q;
  q.service = {LengthSpec::Kind::kLognormal, kMeanTokens, 1.5, 1, INT64_MAX, {}};
  const double moment = kService * kService * (1 + 1.5 * 1.5);
  expect_mean(q, 0.7 * moment / (2 * kService * 0.3), 0.05, wait_s);
}

TEST_CASE("M/M/c waits as Erlang C says") {
  Queue q;
  q.servers = 8;
  q.load = 0.8;
  const double offered = q.load * 8;
  double term = 1, below = 0;  // offered^k / k!
  for (int k = 0; k < 8; ++k) {
    below += term;
    term *= offered / (k + 1);
  }
  const double waiting = term / (1 - q.load);
  const double erlang_c = waiting / (below + waiting);
  // A request also waits for the step in progress, half a step on average, while anything runs.
  expect_mean(q, erlang_c * kService / (8 * (1 - q.load)) + kStep / 2, 0.04, wait_s);
}

TEST_CASE("M/M/1/K loses (1 - rho) rho^K / (1 - rho^(K+1)) of its requests") {
  Queue q;
  q.load = 0.9;
  q.max_pending = 4;  // K = 5 with the one in service
  const double k = 5;
  const double theory = (1 - q.load) * std::pow(q.load, k) / (1 - std::pow(q.load, k + 1));
  expect_mean(q, theory, 0.03, [](const Report& r) {
    const Outcomes o = r.total().outcomes;
    CHECK(o.reasons[static_cast<std::size_t>(Reason::kQueueFull)] == o.count(Outcome::kRejected));
    return static_cast<double>(o.count(Outcome::kRejected)) / static_cast<double>(o.offered);
  });
}

TEST_CASE("a step as long as its batch shares the processor: stays are S / (1 - rho) for any distribution") {
  // Every request in a step adds the same time, so each gets one n-th of the server.
  StepFit fit;
  fit.per_token = fit.per_request = Seconds(kStep);
  fit.source = "test";
  Queue q;
  q.curve = make_step_fit(fit);
  q.batch = 100'000;
  SECTION("exponential") { expect_mean(q, kService / 0.3, 0.04, stay_s); }
  SECTION("deterministic") {
    q.service = {LengthSpec::Kind::kFixed, kMeanTokens, 0, 1, INT64_MAX, {}};
    expect_mean(q, kService / 0.3, 0.04, stay_s);
  }
}
