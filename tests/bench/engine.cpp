// SPDX-License-Identifier: Apache-2.0
// Simulated requests per second of the engine, every summary measure on, one core. Load: prompts of about 1,024 tokens
// and outputs of about 256 (lognormal), at about 70 % of the highest rate that the replicas sustain.
//
//   build/release/tests/bench_engine                     the table
//   valgrind --tool=callgrind build/release/tests/bench_engine --count 100000     instructions for 100,000 requests
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "models/step_fit.h"
#include "sim/schedulers/buckets.h"
#include "sim/simulation.h"
#include "sim/workload.h"

namespace {

using namespace poolcast;

/// An 8B model on an 80 GB device in round figures: 37 requests/s at most.
std::shared_ptr<const StepCurve> curve() {
  StepFit fit;
  fit.base = Seconds(6e-3);
  fit.per_token = Seconds(12e-6);
  fit.per_request = Seconds(30e-6);
  fit.per_context_token = Seconds(3e-9);
  fit.source = "bench";
  return make_step_fit(fit);
}

SimulationSpec world(std::int32_t replicas, const char* policy, std::uint64_t requests) {
  SimulationSpec spec;
  spec.seed = 7;
  PoolSpec pool;
  pool.name = "pool";
  pool.replicas = replicas;
  pool.curve = curve();
  pool.vllm().max_num_seqs = 256;
  pool.vllm().max_num_batched_tokens = 8192;
  pool.vllm().max_model_len = 32768;
  pool.vllm().num_gpu_blocks = 30'000;
  spec.pools.push_back(pool);
  spec.models.push_back({.name = "model", .implementations = {{.pool = PoolId(0u)}}});
  ClassSpec cls;
  cls.name = "chat";
  cls.model = ModelId(0u);
  cls.objectives = {{Metric::kTtft, 99, 2'000'000'000}, {Metric::kTpot, 95, 60'000'000}};
  spec.classes.push_back(cls);
  spec.routing.pool = {{policy, {}}};

  SynthSpec synth;
  synth.requests = requests;
  synth.arrivals.rate_per_s = 26.0 * replicas;
  synth.prompt_tokens = {LengthSpec::Kind::kLognormal, 1024, 0.8, 1, 16000, {}};
  synth.output_tokens = {LengthSpec::Kind::kLognormal, 256, 0.7, 1, 4000, {}};
  SourceSpec source;
  source.source = make_source(synth, ClassId(0u), 0, spec.seed, "workload/0");
  spec.sources.push_back(std::move(source));
  return spec;
}

/// The same load on another kind of engine, one replica.
SimulationSpec world_of(const EngineArgs& engine, std::uint64_t requests) {
  SimulationSpec spec = world(1, "round-robin", requests);
  spec.pools[0].engine = engine;
  return spec;
}

TensorrtLlmArgs tensorrt_llm(TensorrtLlmArgs::CapacityPolicy policy) {
  TensorrtLlmArgs args;
  args.max_batch_size = 256;
  args.max_seq_len = 32768;
  args.num_blocks = 15'000;
  args.enable_chunked_prefill = true;
  args.capacity_scheduler_policy = policy;
  return args;
}

SglangArgs sglang(bool overlap, std::int64_t page_size) {
  SglangArgs args;
  args.max_total_num_tokens = 480'000;
  args.context_length = 32768;
  args.max_running_requests = 256;
  args.page_size = page_size;
  args.disable_overlap_schedule = !overlap;
  return args;
}

BucketedArgs tpu() {
  BucketedArgs args;
  args.max_num_batched_tokens = 8192;
  args.max_model_len = 32768;
  args.num_gpu_blocks = 30'000;
  args.token_buckets = tpu_token_buckets(16, args.max_num_batched_tokens, 0);
  args.request_buckets = tpu_request_buckets(8, args.max_num_seqs);
  return args;
}

/// Padded to whole buckets a step takes many times as long as on the others, so these are overloaded and never short of
/// work.
BucketedArgs slots(BucketedArgs::Flavour flavour) {
  BucketedArgs args;
  args.flavour = flavour;
  args.max_model_len = 32768;
  args.request_buckets = {args.max_num_seqs};
  const bool neuron = flavour == BucketedArgs::Flavour::kNeuron;
  args.token_buckets = neuron ? neuron_buckets(128, args.max_model_len) : jetstream_buckets(args.max_model_len);
  args.context_buckets = neuron ? args.token_buckets : std::vector<std::int64_t>{args.max_model_len};
  return args;
}

TritonArgs triton(std::int64_t delay_us) {
  TritonArgs args;
  args.max_batch_size = 8;
  args.max_queue_delay_microseconds = delay_us;
  args.max_tokens = 32768;
  return args;
}

SessionArgs sessions() {
  SessionArgs args;
  args.physical_cores = 16;
  args.instance_count = 2;
  args.allow_spinning = false;
  args.max_tokens = 32768;
  return args;
}

void replay_engine(benchmark::State& state, const EngineArgs& engine, std::uint64_t requests) {
  std::uint64_t steps = 0;
  SimTime busy = 0, end = 1;
  for (auto _ : state) {
    const Report report = simulate(world_of(engine, requests));
    steps = report.steps;
    busy = report.replicas[0].busy;
    end = report.end;
  }
  const auto total = static_cast<double>(requests) * static_cast<double>(state.iterations());
  state.counters["requests/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["steps/request"] = static_cast<double>(steps) / static_cast<double>(requests);
  state.counters["busy"] = static_cast<double>(busy) / static_cast<double>(end);
}

void replay(benchmark::State& state, std::int32_t replicas, const char* policy, std::uint64_t requests) {
  std::uint64_t steps = 0, events = 0;
  for (auto _ : state) {
    const Report report = simulate(world(replicas, policy, requests));
    steps = report.steps;
    events = report.events;
  }
  const auto total = static_cast<double>(requests) * static_cast<double>(state.iterations());
  state.counters["requests/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["steps/request"] = static_cast<double>(steps) / static_cast<double>(requests);
  state.counters["events/request"] = static_cast<double>(events) / static_cast<double>(requests);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--count") == 0) {
    const Report report = simulate(world(1, "round-robin", std::strtoull(argv[2], nullptr, 10)));
    std::printf("%llu steps\n", static_cast<unsigned long long>(report.steps));
    return 0;
  }
  using benchmark::kMillisecond;
  benchmark::RegisterBenchmark("one replica", replay, 1, "round-robin", 500'000)->Unit(kMillisecond);
  benchmark::RegisterBenchmark("1,000 replicas, power-of-two", replay, 1000, "power-of-two", 500'000)
      ->Unit(kMillisecond);
  benchmark::RegisterBenchmark("1,000 replicas, least-request", replay, 1000, "least-request", 500'000)
      ->Unit(kMillisecond);
  using Policy = TensorrtLlmArgs::CapacityPolicy;
  const std::pair<const char*, EngineArgs> engines[] = {
      {"sglang, overlap, radix cache", sglang(true, 1)},
      {"sglang, overlap, radix cache, pages of 64", sglang(true, 64)},
      {"sglang, normal loop, radix cache", sglang(false, 1)},
      {"tensorrt-llm, GUARANTEED_NO_EVICT", tensorrt_llm(Policy::kGuaranteedNoEvict)},
      {"tensorrt-llm, MAX_UTILIZATION", tensorrt_llm(Policy::kMaxUtilization)},
      {"bucketed, vLLM on TPU, prefix cache", tpu()},
      {"bucketed, Neuron", slots(BucketedArgs::Flavour::kNeuron)},
      {"bucketed, JetStream", slots(BucketedArgs::Flavour::kJetstream)},
      {"triton", triton(0)},
      {"triton, delay of 5 ms", triton(5000)},
      {"session", sessions()},
  };
  for (const auto& [name, engine] : engines) {
    benchmark::RegisterBenchmark(name, replay_engine, engine, 500'000)->Unit(kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
