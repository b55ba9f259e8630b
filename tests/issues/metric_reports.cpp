// SPDX-License-Identifier: Apache-2.0
// Public reports about metrics and load generation, each turned into a test. The number of the report stands in the
// name.
#include <catch2/catch.hpp>

#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

SimulationSpec ten_ms_pool(std::int64_t max_num_seqs) {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.pools[0].vllm().max_num_seqs = max_num_seqs;
  return spec;
}

double mean_ms(const Report& report, Metric metric) { return report.total().latencies[metric].mean() / kMs; }

Report open_loop(const ArrivalSpec& process, std::uint64_t requests) {
  SimulationSpec spec = ten_ms_pool(8);
  SynthSpec synth;
  synth.requests = requests;
  synth.arrivals = process;
  synth.prompt_tokens = {LengthSpec::Kind::kFixed, 10, 0, 1, INT64_MAX, {}};
  synth.output_tokens = {LengthSpec::Kind::kFixed, 20, 0, 1, INT64_MAX, {}};
  SourceSpec source;
  source.source = make_source(synth, ClassId(0u), 0, 1, "workload/0");
  spec.sources.push_back(std::move(source));
  return simulate(std::move(spec));
}

ArrivalSpec arrivals(ArrivalSpec::Process process, double rate_per_s, double cv = 1) {
  ArrivalSpec spec;
  spec.process = process;
  spec.rate_per_s = rate_per_s;
  spec.cv = cv;
  return spec;
}

}  // namespace

TEST_CASE("vllm#54101: the wait inside a capped client shows in latency from `intended`, not in latency from `sent`") {
  const auto run = [](std::int64_t cap) {
    SimulationSpec spec = ten_ms_pool(128);
    add_list(spec, {arrival(0, 10, 10), arrival(0, 10, 10), arrival(0, 10, 10), arrival(0, 10, 10)});
    spec.sources[0].max_concurrency = cap;
    return simulate(std::move(spec));
  };
  const Report capped = run(1);  // one after the other, 100 ms each
  CHECK(mean_ms(capped, Metric::kE2eFromSent) == 100);
  CHECK(mean_ms(capped, Metric::kE2e) == 250);
  CHECK(mean_ms(capped, Metric::kTtftFromSent) == 10);
  CHECK(mean_ms(capped, Metric::kTtft) == 160);
  CHECK(mean_ms(run(4), Metric::kE2e) == 100);
}

TEST_CASE("vllm#7242, aiconfigurator#1141: one request, and what each tool calls its figures") {
  // Sent at 0, first token at 10 ms, four more 10 ms apart, last at 50 ms; 90 prompt tokens.
  SimulationSpec spec = ten_ms_pool(1);
  add_list(spec, {arrival(0, 90, 5)});
  const Report report = simulate(std::move(spec));
  CHECK(mean_ms(report, Metric::kTtft) == 10);  // vLLM ttft, AIPerf time_to_first_token
  CHECK(mean_ms(report, Metric::kTpot) ==
        10);  // vLLM tpot, AIPerf inter_token_latency, aiconfigurator TPOT: (50 - 10) / 4
  CHECK(report.total().latencies[Metric::kItl].count() == 4);  // vLLM itl, AIPerf inter_chunk_latency: every gap
  CHECK(mean_ms(report, Metric::kE2e) == 50);                  // vLLM e2el, AIPerf request_latency
  CHECK(mean_ms(report, Metric::kNtpot) == 10);  // inference-perf, GKE: 50 / 5; GuideLLM time_per_output_token
}

TEST_CASE("vllm#4252: TTFT is queue delay plus the steps of the prompt") {
  SimulationSpec spec = ten_ms_pool(1);
  spec.pools[0].vllm().max_num_batched_tokens = 50;
  add_list(spec, {arrival(0, 10, 10), arrival(0.05, 120, 2)});
  Recorder recorder;
  simulate(std::move(spec), {&recorder});
  const Instants& at = recorder.records.at(1).at;
  CHECK(at.first_scheduled - at.intended == 50 * kMs);     // behind the first request
  CHECK(at.first_token - at.first_scheduled == 30 * kMs);  // three chunks of at most 50 tokens
}

TEST_CASE("vector-db-benchmark#207: a stall of 10 s shows in full, arrivals do not wait for completions") {
  const auto p99_s = [](double stall_s) {
    auto curve = std::make_shared<KneeCurve>();
    curve->base = 0.01;
    curve->per_token = 0;
    curve->per_context = 0;
    curve->beyond = 0;
    curve->per_pair = stall_s * 2 / (1e4 * 1e4);  // one prompt of 10,000 tokens takes the whole stall
    SimulationSpec spec = one_pool(curve);
    spec.pools[0].vllm().max_num_batched_tokens = 20'000;
    std::vector<Arrival> list;
    for (int i = 0; i < 1000; ++i) list.push_back(arrival(i * 0.1, i == 500 ? 10'000 : 1, 1));
    add_list(spec, list);
    return to_seconds(simulate(std::move(spec)).total().latencies[Metric::kTtft].quantile(0.99)).value;
  };
  CHECK(p99_s(0) < 0.03);
  // 100 of 1,000 requests fall into the stall and wait for its rest: the worst 10 of them wait 9 s and more.
  CHECK(p99_s(10) > 8.8);
  CHECK(p99_s(10) < 10.1);
}

TEST_CASE("vllm#26943: warm-up requests are left out of every measure, and counted") {
  SimulationSpec spec = ten_ms_pool(1);
  spec.measure.warm_up_requests = 2;
  add_list(spec, {arrival(0, 10, 100), arrival(0, 10, 100), arrival(10, 10, 1)});
  const Report report = simulate(std::move(spec));
  CHECK(report.warm_up_requests == 2);
  CHECK(report.total().outcomes.offered == 1);
  CHECK(report.total().latencies[Metric::kTtft].max() == 10 * kMs);
  CHECK(report.total().latencies[Metric::kItl].count() == 0);
}

TEST_CASE("inference-perf#711: N = X R over the run and in every settled window") {
  const Report report = open_loop(arrivals(ArrivalSpec::Process::kPoisson, 20), 20'000);
  const double stay_s = report.total().latencies[Metric::kE2e].mean() * 1e-9;
  for (std::size_t w = report.windows.size() / 4; w < 3 * report.windows.size() / 4; ++w) {
    const Window& window = report.windows[w];
    const double rate = static_cast<double>(window.arrived) / to_seconds(window.end - window.begin).value;
    CHECK(window.mean_in_system == Approx(rate * stay_s).epsilon(0.25));
  }
}

TEST_CASE("inference-sim#818: the same mean rate in bursts raises TTFT several times") {
  const ArrivalSpec smooth = arrivals(ArrivalSpec::Process::kPoisson, 32);
  const ArrivalSpec bursty = arrivals(ArrivalSpec::Process::kGamma, 32, 4);
  const double ratio =
      mean_ms(open_loop(bursty, 40'000), Metric::kTtft) / mean_ms(open_loop(smooth, 40'000), Metric::kTtft);
  CHECK(ratio > 3);
}

TEST_CASE("inference-sim#843: open and closed loops stay what they are") {
  SimulationSpec spec = ten_ms_pool(1);
  std::vector<Arrival> list;
  for (int i = 0; i < 50; ++i) list.push_back(arrival(i * 0.01, 1, 100));  // far more than it can serve
  add_list(spec, list);
  Recorder recorder;
  simulate(std::move(spec), {&recorder});
  for (const RequestRecord& r : recorder.records) {
    CHECK(r.at.sent == static_cast<SimTime>(r.row) * 10 * kMs);  // the open loop never waits
  }
}
