// SPDX-License-Identifier: Apache-2.0
// What each kind of engine takes from its version, the model and the device.
#include "scenarios/engines/engine_kind.h"

#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "scenarios/load.h"
#include "scenarios/summary_json.h"
#include "scenarios/summary_text.h"
#include "sim/simulation.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

Scenario one_pool(const std::string& engine, const std::string& accelerator = "h100-sxm", std::int64_t tp = 1,
                  const std::string& model = "shape: llama-3.1-8b, contract: {limits: {context: 8192}}",
                  const std::string& curves = "roofline", const std::string& output = ", output_tokens: 20") {
  return loaded("version: 1\nworkload: {synth: {requests: 50, arrivals: {rate: 20/s}, prompt_tokens: 200" + output +
                "}}\nmodels: {name: m, " + model + "}\npools:\n  name: p\n  accelerator: " + accelerator +
                "\n  layout: {tp: " + std::to_string(tp) + "}\n  engine: " + engine + "\n  curves: " + curves +
                "\n  price: {reserved: $3.60/h}\n");
}

template <class Args>
Args args_of(const Scenario& scenario) {
  return std::get<Args>(scenario.pools[0].engine.settings.args);
}

SglangArgs sglang(const std::string& args, const std::string& accelerator = "h100-sxm") {
  return args_of<SglangArgs>(
      one_pool("{kind: sglang, version: mainline-2026-07-20, args: {" + args + "}}", accelerator));
}

TensorrtLlmArgs trt(const std::string& args) {
  return args_of<TensorrtLlmArgs>(one_pool("{kind: tensorrt-llm, version: main-2026-05, args: {" + args + "}}"));
}

BucketedArgs bucketed(const std::string& version, const std::string& args, const std::string& accelerator,
                      std::int64_t tp = 4) {
  return args_of<BucketedArgs>(
      one_pool("{kind: bucketed, version: " + version + ", args: {" + args + "}}", accelerator, tp));
}

const std::string kEmbedder = "task: embed, shape: llama-3.1-8b, contract: {limits: {context: 512}}";

TritonArgs triton(const std::string& args, const std::string& accelerator = "h100-sxm") {
  return args_of<TritonArgs>(one_pool("{kind: triton, version: core-2026-06-09, args: {" + args + "}}", accelerator, 1,
                                      kEmbedder, "{step_fit: {base: 10 ms}}", ""));
}

Report run(const Scenario& scenario) { return simulate(build(scenario).spec); }

}  // namespace

TEST_CASE("a chunk of SGLang's prefill is by default as large as the device's memory allows") {
  CHECK(sglang("mem_fraction_static: 0.8").chunked_prefill_size == 8192);
  CHECK(sglang("mem_fraction_static: 0.8", "mi300x").chunked_prefill_size == 16384);
  CHECK(sglang("mem_fraction_static: 0.8", "l40s").chunked_prefill_size == 4096);
}

TEST_CASE("SGLang's static share of the memory holds weights and KV cache, not activations") {
  // 80 GiB x 0.8 - 15.0 GiB of weights, at 128 KiB a token.
  const SglangArgs args = sglang("mem_fraction_static: 0.8");
  const double room = 80.0 * 1073741824 * 0.8 - 2 * 8030257152.0;
  CHECK(static_cast<double>(args.max_total_num_tokens) == Approx(room / 131072).epsilon(0.001));
  CHECK(sglang("mem_fraction_static: 0.8, page_size: 64").max_total_num_tokens % 64 == 0);
  CHECK(sglang("max_total_tokens: 10007, page_size: 10, chunked_prefill_size: 1000").max_total_num_tokens == 10000);
}

TEST_CASE("SGLang runs by default as many requests as its KV cache holds contexts, 512 for each, within bounds") {
  CHECK(sglang("max_total_tokens: 16384").max_running_requests == 2048);   // 1024, at least 2048
  CHECK(sglang("max_total_tokens: 49152").max_running_requests == 3072);   // 6 contexts of 8192
  CHECK(sglang("max_total_tokens: 999999").max_running_requests == 4096);  // at most
  CHECK(sglang("max_total_tokens: 3000").max_running_requests == 1500);    // half the cache
  CHECK(sglang("max_total_tokens: 3000, max-running-requests: 9").max_running_requests == 9);
  CHECK(sglang("max_total_tokens: 3000, max-running-requests: 1999").max_running_requests == 1500);
}

TEST_CASE("TensorRT-LLM's KV cache is a share of what weights and activations leave") {
  const Scenario whole = one_pool("{kind: tensorrt-llm, version: main-2026-05, args: {free_gpu_memory_fraction: 1}}");
  const Scenario half = one_pool("{kind: tensorrt-llm, version: main-2026-05, args: {free_gpu_memory_fraction: 0.5}}");
  const auto blocks = [](const Scenario& s) { return args_of<TensorrtLlmArgs>(s).num_blocks; };
  CHECK(static_cast<double>(blocks(half)) == Approx(static_cast<double>(blocks(whole)) / 2).margin(1));
  CHECK(half.pools[0].kv_memory->weights.value == whole.pools[0].kv_memory->weights.value);
  CHECK(trt("kv_cache_config: {max_tokens: 1000}").num_blocks == 31);
  CHECK(trt("kv_cache_config: {max_tokens: 1000, tokens_per_block: 64}").num_blocks == 15);
}

TEST_CASE("arguments of TensorRT-LLM stand in its own mappings or beside them") {
  const TensorrtLlmArgs inside = trt("scheduler_config: {capacity-scheduler-policy: STATIC_BATCH}, max-batch-size: 7");
  const TensorrtLlmArgs beside = trt("capacity_scheduler_policy: STATIC_BATCH, max_batch_size: 7");
  CHECK(inside == beside);
  CHECK(inside.capacity_scheduler_policy == TensorrtLlmArgs::CapacityPolicy::kStaticBatch);
}

TEST_CASE("vLLM's defaults give way to what is stated") {
  const auto vllm = [](const std::string& args, const std::string& accelerator = "h100-sxm") {
    return args_of<VllmArgs>(one_pool("{kind: vllm, version: mainline-2026-08-17, args: {" + args + "}}", accelerator));
  };
  CHECK(vllm("").max_num_seqs == 1024);
  CHECK(vllm("max_num_batched_tokens: 512").max_num_seqs == 512);  // no more than a step has tokens
  CHECK(vllm("max_num_batched_tokens: 512, max_num_seqs: 9").max_num_seqs == 9);
  CHECK(vllm("enable_chunked_prefill: false").max_num_batched_tokens == 8192);
  CHECK(vllm("enable_chunked_prefill: false, max_model_len: 9000").max_num_batched_tokens == 9000);
  CHECK(vllm("max_model_len: 9000").max_num_batched_tokens == 8192);
  const BucketedArgs tpu = bucketed("vllm-tpu-2026-08-22", "", "tpu-v5p");
  CHECK(tpu.max_num_batched_tokens == 256);
  CHECK(tpu.max_num_seqs == 256);
}

TEST_CASE("the buckets of vLLM on TPU follow from its limits") {
  const BucketedArgs args = bucketed("vllm-tpu-2026-08-22", "max_num_seqs: 100", "tpu-v6e");
  CHECK(args.max_num_batched_tokens == 1024);
  CHECK(args.token_buckets == std::vector<std::int64_t>{16, 32, 64, 128, 256, 512, 1024});
  CHECK(args.request_buckets == std::vector<std::int64_t>{8, 16, 32, 64, 100});
  CHECK(args.block_size == 256);  // 8192 / 16, at most 256
  CHECK(args.precompile);
  const BucketedArgs gap =
      bucketed("vllm-tpu-2026-08-22",
               "max_num_seqs: 100, max_num_batched_tokens: 1000, VLLM_TPU_BUCKET_PADDING_GAP: 256, "
               "compilation_sizes: [48, 64], max_model_len: 9000",
               "tpu-v6e");
  CHECK(gap.token_buckets == std::vector<std::int64_t>{16, 32, 48, 64, 128, 256, 512, 768, 1024});
  CHECK(gap.block_size == 16);
}

TEST_CASE("the buckets of Neuron follow from its longest prompt and sequence") {
  const BucketedArgs args = bucketed("neuron-2026-07-28", "max_context_length: 600, seq-len: 1000", "trainium2");
  CHECK(args.max_num_seqs == 32);
  CHECK(args.token_buckets == std::vector<std::int64_t>{128, 256, 600});
  CHECK(args.context_buckets == std::vector<std::int64_t>{128, 256, 512, 1000});
  CHECK(args.request_buckets == std::vector<std::int64_t>{32});
  const BucketedArgs one = bucketed("neuron-2026-07-28", "neuron_config: {enable_bucketing: false}", "trainium2");
  CHECK(one.token_buckets == std::vector<std::int64_t>{8192});
  CHECK(one.context_buckets == std::vector<std::int64_t>{8192});
}

TEST_CASE("the buckets of JetStream are powers of two up to its longest prompt") {
  const BucketedArgs args = bucketed(
      "jetstream-2026-01-05", "max_concurrent_decodes: 24, max_prefill_length: 100, compile_time: 9 s", "tpu-v5e");
  CHECK(args.token_buckets == std::vector<std::int64_t>{16, 32, 64, 100});
  CHECK(args.max_num_seqs == 24);
  CHECK_FALSE(args.precompile);
  CHECK(args.compile_seconds == 9);
}

TEST_CASE("the backend of ONNX Runtime completes a model of Triton that states no batch size") {
  CHECK(triton("").max_batch_size == 1);
  CHECK_FALSE(triton("").dynamic_batching);
  CHECK(triton("backend: onnxruntime").max_batch_size == 4);
  CHECK(triton("backend: onnxruntime").dynamic_batching);
  CHECK_FALSE(triton("backend: onnxruntime, max_batch_size: 8").dynamic_batching);
  CHECK(triton("max_batch_size: 8, dynamic_batching: {}").dynamic_batching);
  CHECK(triton("backend: onnxruntime").instance_count == 1);
  CHECK(triton("backend: onnxruntime", "xeon-6980p").instance_count == 2);
  CHECK(triton("backend: tensorrt", "xeon-6980p").instance_count == 1);
  CHECK(triton("backend: onnxruntime, instance_group: {count: 3}", "xeon-6980p").instance_count == 3);
}

TEST_CASE("every engine kind completes a small load, and its telemetry has its own names") {
  const struct {
    const char* engine;
    const char* accelerator;
    const char* signal;
  } cases[] = {
      {"{kind: vllm, version: mainline-2026-08-17}", "h100-sxm", "vllm:num_requests_running"},
      {"{kind: sglang, version: mainline-2026-07-20, args: {mem_fraction_static: 0.8}}", "h100-sxm",
       "sglang:num_running_reqs"},
      {"{kind: tensorrt-llm, version: main-2026-05}", "h100-sxm", "trtllm_kv_cache_utilization"},
      {"{kind: tensorrt-llm, version: main-2026-05}", "h100-sxm", "numQueuedRequests"},
      {"{kind: bucketed, version: vllm-tpu-2026-08-22}", "tpu-v6e", "vllm:num_requests_running"},
      {"{kind: bucketed, version: vllm-tpu-2026-08-22}", "tpu-v6e", "vllm:prefix_cache_hits"},
      {"{kind: bucketed, version: neuron-2026-07-28}", "trainium2", "vllm:num_requests_running"},
      {"{kind: bucketed, version: jetstream-2026-01-05, args: {max_concurrent_decodes: 8, max_prefill_length: 1024, "
       "enable_model_warmup: true}}",
       "tpu-v5e", "jetstream_slots_used_percentage"},
  };
  for (const auto& [engine, accelerator, signal] : cases) {
    CAPTURE(engine);
    BuiltScenario built = build(one_pool(engine, accelerator, 8));
    const Report report = simulate(std::move(built.spec));
    CHECK(report.total().outcomes.count(Outcome::kCompleted) == 50);
    const std::string json = summary_json(summarise(report, built.facts));
    CHECK(json.find(signal) != std::string::npos);
  }
}

TEST_CASE("what shapes cost is told: programs compiled in front of requests, and padding") {
  BuiltScenario built = build(one_pool(
      "{kind: bucketed, version: jetstream-2026-01-05, args: {max_concurrent_decodes: 64, max_prefill_length: 1024, "
      "compile_time: 2 s}}",
      "tpu-v5e", 8));
  const Summary summary = summarise(simulate(std::move(built.spec)), built.facts);
  CHECK(summary.pools[0].use.compiled_programs == 2);  // the bucket of 256 and the step
  std::string notes;
  for (const Note& note : summary.notes) notes += note.text + "\n";
  CHECK(notes.find("Pool p: requests waited while 2 programs were compiled.\n") != std::string::npos);
  CHECK(summary.pools[0].use.padding_waste.value_or(0) > 0.1);
}

TEST_CASE("faults of an engine that are left out or met are notes") {
  const BuiltScenario built =
      build(one_pool("{kind: sglang, version: mainline-2026-07-20, args: {max_total_tokens: 9999}}"));
  Report report;
  report.cells.assign(1, std::vector<Cell>(2));
  report.replicas.resize(2);
  for (ReplicaReport& replica : report.replicas) replica.pool = PoolId(0u);
  report.replicas[0].departures = {{"preempted requests were lost", 3}};
  report.replicas[1].departures = {{"queues hung", 1}, {"preempted requests were lost", 1000}};
  std::string notes;
  for (const Note& note : summarise(report, built.facts).notes) notes += note.text + "\n";
  CHECK(notes.find("Pool p: 1,003 preempted requests were lost.\nPool p: 1 queues hung.\n") != std::string::npos);
}

TEST_CASE("an embedding is one pass, and its unit is the embedding") {
  for (const char* engine :
       {"{kind: triton, version: core-2026-06-09, args: {max_batch_size: 8, dynamic_batching: true}}",
        "{kind: session, version: onnxruntime-2025, args: {physical_cores: 8}}",
        "{kind: vllm, version: mainline-2026-08-17}"}) {
    CAPTURE(engine);
    BuiltScenario built = build(one_pool(engine, "h100-sxm", 1, kEmbedder, "{step_fit: {base: 10 ms}}", ""));
    const Report report = simulate(std::move(built.spec));
    CHECK(report.total().outcomes.count(Outcome::kCompleted) == 50);
    CHECK(report.total().outcomes.output_tokens == 50);
    const Summary summary = summarise(report, built.facts);
    CHECK(summary.unit == "embeddings");
    CHECK(summary_json(summary).find("\"per_million_accepted_tokens_usd\": null") != std::string::npos);
    CHECK(summary_text(summary).find("embeddings, $") != std::string::npos);
    CHECK(summary_text(summary).find(" output embeddings/s") != std::string::npos);
  }
}

TEST_CASE("an input as long as the limit is no longer for its answer") {
  const std::string longest = "task: embed, shape: llama-3.1-8b, contract: {limits: {context: 200}}";
  const std::string shorter = "task: embed, shape: llama-3.1-8b, contract: {limits: {context: 199}}";
  for (const char* engine :
       {"{kind: triton, version: core-2026-06-09}", "{kind: vllm, version: mainline-2026-08-17}"}) {
    const auto done = [&](const std::string& model) {
      return run(one_pool(engine, "h100-sxm", 1, model, "{step_fit: {base: 1 ms}}", ""))
          .total()
          .outcomes.count(Outcome::kCompleted);
    };
    CHECK(done(longest) == 50);
    CHECK(done(shorter) == 0);
  }
}

TEST_CASE("an image is as many passes as it has steps, a training job as many as its output says") {
  const std::string fit = "{step_fit: {base: 10 ms}}";
  const auto shortest = [](const Report& report) { return report.total().latencies[Metric::kE2e].quantile(0); };
  const std::string model = "contract: {limits: {context: 512}}";
  const std::string triton_alone = "{kind: triton, version: core-2026-06-09, args: {instance_group: {count: 50}}}";
  const Report image = run(one_pool(triton_alone, "h100-sxm", 1, "task: image, steps: 30, " + model, fit, ""));
  CHECK(to_seconds(shortest(image)).value == Approx(0.3).epsilon(0.01));
  const Report job = run(one_pool(triton_alone, "h100-sxm", 1, "task: train, " + model, fit, ", output_tokens: 700"));
  CHECK(to_seconds(shortest(job)).value == Approx(7).epsilon(0.01));
  CHECK(job.total().outcomes.output_tokens == 50 * 700);
}

TEST_CASE("costs of models with unlike units are not added up") {
  const BuiltScenario built =
      build(load_scenario(POOLCAST_SOURCE_DIR "/scenarios/examples/one_pass.yaml", source_catalog()));
  CHECK(built.facts.units == std::vector<std::string>{"embeddings", "images", "steps"});
  Report report;
  report.cells.assign(3, std::vector<Cell>(5));
  const Summary summary = summarise(report, built.facts);
  CHECK_FALSE(summary.unit);
  CHECK(summary_text(summary).find("per million") == std::string::npos);
  CHECK_FALSE(summary.total.output_tokens_per_s);
}

TEST_CASE("what engines leave out is told once for each kind in use") {
  const BuiltScenario built = build(one_pool("{kind: tensorrt-llm, version: main-2026-05}"));
  REQUIRE_FALSE(built.facts.fidelity.empty());
  for (const std::string& sentence : built.facts.fidelity) CHECK(sentence.find("tensorrt-llm: ") == 0);
}
