// SPDX-License-Identifier: Apache-2.0
// Engines besides vLLM, and tasks besides text.
#include <catch2/catch.hpp>

#include "tests/support/scenario_text.h"

using poolcast::testing::fault;

namespace {

/// The fault of the sound scenario with another engine in its second pool.
std::string engine_fault(const std::string& engine) {
  return fault(R"(accelerator: mi300x
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}})",
               "accelerator: mi300x\n    engine: " + engine);
}

std::string sglang_fault(const std::string& args) {
  return engine_fault("{kind: sglang, version: mainline-2026-07-20, args: {" + args + "}}");
}

std::string trt_fault(const std::string& args) {
  return engine_fault("{kind: tensorrt-llm, version: main-2026-05, args: {" + args + "}}");
}

std::string tpu_fault(const std::string& args) {
  return engine_fault("{kind: bucketed, version: vllm-tpu-2026-08-22, args: {" + args + "}}");
}

/// An embedding model on one pool.
std::string embed_fault(const std::string& engine, const std::string& model = "task: embed, ",
                        const std::string& curves = "roofline", const std::string& output = "") {
  return poolcast::testing::fault_of(
      "version: 1\nworkload: {synth: {requests: 5, arrivals: {rate: 1/s}, prompt_tokens: 9" + output +
      "}}\nmodels: {name: m, " + model +
      "shape: llama-3.1-8b, contract: {limits: {context: 512}}}\npools:\n  name: p\n"
      "  accelerator: h100-sxm\n  engine: " +
      engine + "\n  curves: " + curves + "\n  price: none\n");
}

std::string triton(const std::string& args) { return "{kind: triton, version: core-2026-06-09, args: {" + args + "}}"; }

}  // namespace

TEST_CASE("latencies by token are not predicted for engines of one pass") {
  CHECK(poolcast::testing::fault_of(
            "version: 1\nworkload: {synth: {requests: 5, arrivals: {rate: 1/s}, prompt_tokens: 9}}\n"
            "models: {name: m, task: embed, shape: llama-3.1-8b, contract: {limits: {context: 512}}}\n"
            "pools: {name: p, accelerator: h100-sxm, price: none, engine: " +
            triton("max_batch_size: 8") + "}\nrouting: {pool: {policy: slo-least-load}}\n") ==
        R"(s.yaml:5:10: routing: TTFT and TPOT are predicted where tokens come one by one, and pool p runs triton
routing: {pool: {policy: slo-least-load}}
         ^)");
}

TEST_CASE("a version that an engine does not have names those that it has") {
  CHECK(engine_fault("{kind: sglang, version: \"0.5\"}") ==
        R"(s.yaml:32:37: pools[1].engine.version: the catalog has no sglang "0.5"
    engine: {kind: sglang, version: "0.5"}
                                    ^ one of mainline-2026-07-20)");
}

TEST_CASE("an argument of another engine is an error that names the nearest of this one") {
  CHECK(sglang_fault("max_num_seqs: 9") ==
        R"(s.yaml:32:65: pools[1].engine.args.max_num_seqs: sglang mainline-2026-07-20 has no such argument
    engine: {kind: sglang, version: mainline-2026-07-20, args: {max_num_seqs: 9}}
                                                                ^)");
  CHECK(sglang_fault("max-running-request: 9") ==
        R"(s.yaml:32:65: pools[1].engine.args.max-running-request: sglang mainline-2026-07-20 has no such argument
    engine: {kind: sglang, version: mainline-2026-07-20, args: {max-running-request: 9}}
                                                                ^ did you mean "max_running_requests"?)");
}

TEST_CASE("SGLang's share of the memory is not guessed") {
  CHECK(
      sglang_fault("page_size: 1") ==
      R"(s.yaml:30:5: pools[1]: mem_fraction_static is not known; without it the size of the KV cache is unknown, so state max_total_tokens
  - name: b
    ^)");
}

TEST_CASE("a chunk of SGLang is whole pages") {
  CHECK(sglang_fault("mem_fraction_static: 0.8, page_size: 64, chunked_prefill_size: 1000") ==
        R"(s.yaml:32:64: pools[1].engine.args: chunked_prefill_size (1000) must be a multiple of page_size (64)
 engine: {kind: sglang, version: mainline-2026-07-20, args: {mem_fraction_static: 0.8, page_size: 64, chunked_prefill_si
                                                            ^)");
}

TEST_CASE("SGLang's priorities need a policy that heeds them") {
  CHECK(sglang_fault("mem_fraction_static: 0.8, enable_priority_scheduling: true, schedule_policy: lpm") ==
        R"(s.yaml:32:64: pools[1].engine.args: enable_priority_scheduling needs schedule_policy fcfs or lof
 engine: {kind: sglang, version: mainline-2026-07-20, args: {mem_fraction_static: 0.8, enable_priority_scheduling: true,
                                                            ^)");
}

TEST_CASE("a heavy argument of SGLang that is not modelled is an error unless it is off") {
  CHECK(
      sglang_fault("mem_fraction_static: 0.8, dp_size: 2") ==
      R"(s.yaml:32:100: pools[1].engine.args.dp_size: dp_size is known but not modelled yet; leave it out or turn it off
    engine: {kind: sglang, version: mainline-2026-07-20, args: {mem_fraction_static: 0.8, dp_size: 2}}
                                                                                                   ^)");
  CHECK(sglang_fault("mem_fraction_static: 0.8, dp_size: 1, speculative_algorithm: none") == "no error");
}

TEST_CASE("an argument inside a group of TensorRT-LLM and outside of it is the same argument") {
  CHECK(
      trt_fault("tokens_per_block: 32, kv_cache_config: {tokens_per_block: 64}") ==
      R"(s.yaml:32:104: pools[1].engine.args.kv_cache_config.tokens_per_block: the argument "tokens_per_block" stands twice
ain-2026-05, args: {tokens_per_block: 32, kv_cache_config: {tokens_per_block: 64}}}
                                                            ^)");
}

TEST_CASE("an argument of Neuron that is nearly one of its other spellings gets that as a hint") {
  const std::string fault =
      engine_fault("{kind: bucketed, version: neuron-2026-07-28, args: {neuron_config: {batch_sise: 8}}}");
  CHECK(fault.find("pools[1].engine.args.neuron_config.batch_sise: bucketed neuron-2026-07-28 has no such argument") !=
        std::string::npos);
  CHECK(fault.find("did you mean \"batch_size\"?") != std::string::npos);
}

TEST_CASE("an unknown argument inside a group is an error") {
  CHECK(
      trt_fault("kv_cache_config: {free_gpu_memory_fracton: 0.8}") ==
      R"(s.yaml:32:82: pools[1].engine.args.kv_cache_config.free_gpu_memory_fracton: tensorrt-llm main-2026-05 has no such argument
    engine: {kind: tensorrt-llm, version: main-2026-05, args: {kv_cache_config: {free_gpu_memory_fracton: 0.8}}}
                                                                                 ^ did you mean "free_gpu_memory_fraction"?)");
}

TEST_CASE("an unknown capacity policy of TensorRT-LLM is an error") {
  CHECK(
      trt_fault("scheduler_config: {capacity_scheduler_policy: MAX_UTILISATION}") ==
      R"(s.yaml:32:110: pools[1].engine.args.scheduler_config.capacity_scheduler_policy: unknown value "MAX_UTILISATION"
26-05, args: {scheduler_config: {capacity_scheduler_policy: MAX_UTILISATION}}}
                                                            ^ did you mean "MAX_UTILIZATION"?)");
}

TEST_CASE("a KV cache of less than a block is an error") {
  CHECK(trt_fault("max_tokens: 31") ==
        R"(s.yaml:32:63: pools[1].engine.args: max_tokens (31) is less than one block of 32 tokens
    engine: {kind: tensorrt-llm, version: main-2026-05, args: {max_tokens: 31}}
                                                              ^)");
}

TEST_CASE("upstream faults exist only where an engine has two ways") {
  CHECK(engine_fault("{kind: tensorrt-llm, version: main-2026-05, fidelity: upstream}") ==
        R"(s.yaml:32:67: pools[1].engine.fidelity: tensorrt-llm is modelled in one way only: leave it out
    engine: {kind: tensorrt-llm, version: main-2026-05, fidelity: upstream}
                                                                  ^)");
}

TEST_CASE("the flavour of a bucketed engine follows from its version") {
  CHECK(tpu_fault("flavour: neuron") ==
        R"(s.yaml:32:76: pools[1].engine.args.flavour: follows from the version, which has vllm-tpu; leave it out
    engine: {kind: bucketed, version: vllm-tpu-2026-08-22, args: {flavour: neuron}}
                                                                           ^)");
}

TEST_CASE("a shape that compiles at its first use needs the time of a compile") {
  CHECK(
      tpu_fault("SKIP_JAX_PRECOMPILE: true") ==
      R"(s.yaml:32:66: pools[1].engine.args: without a compile ahead the first use of a shape waits for it, and no source tells how long: state compile_time
    engine: {kind: bucketed, version: vllm-tpu-2026-08-22, args: {SKIP_JAX_PRECOMPILE: true}}
                                                                 ^)");
  CHECK(tpu_fault("SKIP_JAX_PRECOMPILE: true, compile_time: 40 s") == "no error");
}

TEST_CASE("buckets are few") {
  CHECK(tpu_fault("max_num_batched_tokens: 1000000, VLLM_TPU_BUCKET_PADDING_GAP: 1") ==
        R"(s.yaml:32:66: pools[1].engine.args: VLLM_TPU_BUCKET_PADDING_GAP (1) makes more than 10000 buckets
ngine: {kind: bucketed, version: vllm-tpu-2026-08-22, args: {max_num_batched_tokens: 1000000, VLLM_TPU_BUCKET_PADDING_GA
                                                            ^)");
}

TEST_CASE("a default that depends on a memory that nobody states must be stated") {
  CHECK(
      fault(R"(accelerator: mi300x
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 64, max_num_batched_tokens: 8192}})",
            "accelerator: {name: own, bf16: 1 TFLOP/s, memory_bandwidth: 1 TB/s}\n"
            "    engine: {kind: sglang, version: mainline-2026-07-20, args: {max_total_tokens: 9999}}") ==
      R"(s.yaml:32:64: pools[1].engine.args: no source tells the default of chunked_prefill_size in sglang mainline-2026-07-20 on this device: state it
    engine: {kind: sglang, version: mainline-2026-07-20, args: {max_total_tokens: 9999}}
                                                               ^)");
}

TEST_CASE("programs from a compile cache need the time that they take to load") {
  CHECK(
      tpu_fault("compile_cache: true") ==
      R"(s.yaml:32:66: pools[1].engine.args: no source tells how long a program from the compile cache takes to load: state cached_compile_time
    engine: {kind: bucketed, version: vllm-tpu-2026-08-22, args: {compile_cache: true}}
                                                                 ^)");
}

TEST_CASE("the largest bucket of Neuron's contexts is the longest sequence") {
  CHECK(
      engine_fault("{kind: bucketed, version: neuron-2026-07-28, args: {token_generation_buckets: [128, 4096]}}") ==
      R"(s.yaml:32:64: pools[1].engine.args: the largest of token_generation_buckets (4096) must be the longest sequence (8192)
    engine: {kind: bucketed, version: neuron-2026-07-28, args: {token_generation_buckets: [128, 4096]}}
                                                               ^)");
  CHECK(engine_fault("{kind: bucketed, version: neuron-2026-07-28, args: {token_generation_batches: [8, 16]}}") ==
        R"(s.yaml:32:64: pools[1].engine.args: the largest of token_generation_batches (16) must be max_num_seqs (32)
    engine: {kind: bucketed, version: neuron-2026-07-28, args: {token_generation_batches: [8, 16]}}
                                                               ^)");
  CHECK(engine_fault("{kind: bucketed, version: neuron-2026-07-28, args: {context_encoding_buckets: [128, 9000]}}") ==
        R"(s.yaml:32:64: pools[1].engine.args: the largest prompt bucket (9000) is above the longest sequence (8192)
    engine: {kind: bucketed, version: neuron-2026-07-28, args: {context_encoding_buckets: [128, 9000]}}
                                                               ^)");
}

TEST_CASE("buckets stand in ascending order") {
  CHECK(engine_fault("{kind: bucketed, version: neuron-2026-07-28, args: {context_encoding_buckets: [512, 512]}}") ==
        R"(s.yaml:32:97: pools[1].engine.args.context_encoding_buckets[1]: must be above the one before it
    engine: {kind: bucketed, version: neuron-2026-07-28, args: {context_encoding_buckets: [512, 512]}}
                                                                                                ^)");
}

TEST_CASE("JetStream's slots are not guessed") {
  CHECK(
      engine_fault("{kind: bucketed, version: jetstream-2026-01-05, args: {max_prefill_length: 1024}}") ==
      R"(s.yaml:32:67: pools[1].engine.args: no source tells the default of max_concurrent_decodes in bucketed jetstream-2026-01-05 on this device: state it
    engine: {kind: bucketed, version: jetstream-2026-01-05, args: {max_prefill_length: 1024}}
                                                                  ^)");
}

TEST_CASE("text on an engine of one pass is an error") {
  CHECK(engine_fault(triton("max_batch_size: 8")) ==
        R"(s.yaml:32:20: pools[1].engine.kind: triton does not carry the task generate of model "chat"
    engine: {kind: triton, version: core-2026-06-09, args: {max_batch_size: 8}}
                   ^ it carries embed, image, train)");
}

TEST_CASE("a preferred batch above the largest is an error") {
  CHECK(embed_fault(triton("max_batch_size: 8, dynamic_batching: {preferred_batch_size: [4, 16]}")) ==
        R"(s.yaml:7:58: pools[0].engine.args: preferred_batch_size 16 is above max_batch_size (8)
  engine: {kind: triton, version: core-2026-06-09, args: {max_batch_size: 8, dynamic_batching: {preferred_batch_size: [4
                                                         ^)");
}

TEST_CASE("levels of priority need a default among them, and policies for all or none") {
  CHECK(embed_fault(triton("dynamic_batching: {priority_levels: 2}")) ==
        R"(s.yaml:7:58: pools[0].engine.args: default_priority_level (0) must be from 1 to priority_levels (2)
  engine: {kind: triton, version: core-2026-06-09, args: {dynamic_batching: {priority_levels: 2}}}
                                                         ^)");
  CHECK(embed_fault(triton(
            "dynamic_batching: {priority_levels: 2, default_priority_level: 1, priority_queue_policy: {1: {}}}")) ==
        R"(s.yaml:7:58: pools[0].engine.args: priority_queue_policy states 1 of 2 levels
  engine: {kind: triton, version: core-2026-06-09, args: {dynamic_batching: {priority_levels: 2, default_priority_level:
                                                         ^)");
  CHECK(
      embed_fault(triton("dynamic_batching: {priority_levels: 2, default_priority_level: 1, priority_queue_policy: "
                         "{2: {}, 1: {}}}")) ==
      R"(s.yaml:7:148: pools[0].engine.args.dynamic_batching.priority_queue_policy: levels are 1, 2, … in order, each with its policy
evels: 2, default_priority_level: 1, priority_queue_policy: {2: {}, 1: {}}}}}
                                                            ^)");
}

TEST_CASE("several instance groups and timeouts of requests are not modelled yet") {
  CHECK(
      embed_fault(triton("instance_group: [{count: 1}, {count: 2}]")) ==
      R"(s.yaml:7:75: pools[0].engine.args.instance_group: several instance groups are known but not modelled yet: state one
  engine: {kind: triton, version: core-2026-06-09, args: {instance_group: [{count: 1}, {count: 2}]}}
                                                                          ^)");
  CHECK(
      embed_fault(triton("default_queue_policy: {allow_timeout_override: true}")) ==
      R"(s.yaml:7:106: pools[0].engine.args.default_queue_policy.allow_timeout_override: requests with a timeout of their own are known but not modelled yet; leave it out or turn it off
  engine: {kind: triton, version: core-2026-06-09, args: {default_queue_policy: {allow_timeout_override: true}}}
                                                                                                         ^)");
}

TEST_CASE("an instance group is one mapping, and a group of arguments a mapping") {
  CHECK(embed_fault(triton("instance_group: []")) ==
        R"(s.yaml:7:75: pools[0].engine.args.instance_group: is an empty list; state one group, for example [{count: 2}]
  engine: {kind: triton, version: core-2026-06-09, args: {instance_group: []}}
                                                                          ^)");
  CHECK(embed_fault(triton("instance_group: 7")) ==
        R"(s.yaml:7:75: pools[0].engine.args.instance_group: must be a group such as {count: 2}, got "7"
  engine: {kind: triton, version: core-2026-06-09, args: {instance_group: 7}}
                                                                          ^)");
  CHECK(
      engine_fault("{kind: tensorrt-llm, version: main-2026-05, args: {kv_cache_config: 7}}") ==
      R"(s.yaml:32:81: pools[1].engine.args.kv_cache_config: is a group of arguments: write kv_cache_config: {argument: value, …}
    engine: {kind: tensorrt-llm, version: main-2026-05, args: {kv_cache_config: 7}}
                                                                                ^)");
}

TEST_CASE("the cores of a session are not guessed") {
  CHECK(
      embed_fault("{kind: session, version: onnxruntime-2025}") ==
      R"(s.yaml:7:11: pools[0].engine.args: no source tells the default of physical_cores in session onnxruntime-2025 on this device: state it
  engine: {kind: session, version: onnxruntime-2025}
          ^)");
}

TEST_CASE("an unknown task is an error") {
  CHECK(embed_fault(triton(""), "task: embedd, ") == R"(s.yaml:3:25: models[0].task: unknown value "embedd"
models: {name: m, task: embedd, shape: llama-3.1-8b, contract: {limits: {context: 512}}}
                        ^ did you mean "embed"?)");
}

TEST_CASE("an image needs its steps, and nothing else has any") {
  CHECK(embed_fault(triton(""), "task: image, ") == R"(s.yaml:3:9: models[0]: missing key "steps"
models: {name: m, task: image, shape: llama-3.1-8b, contract: {limits: {context: 512}}}
        ^)");
  CHECK(embed_fault(triton(""), "task: embed, steps: 4, ") ==
        R"(s.yaml:3:32: models[0].steps: only the task image has steps
models: {name: m, task: embed, steps: 4, shape: llama-3.1-8b, contract: {limits: {context: 512}}}
                               ^)");
}

TEST_CASE("a roofline knows no pass of an image") {
  CHECK(embed_fault(triton(""), "task: image, steps: 4, ") ==
        R"(s.yaml:8:11: pools[0].curves: a roofline knows no pass of the task image: state its time by step_fit
  curves: roofline
          ^)");
}

TEST_CASE("training jobs do not share a batch") {
  CHECK(
      embed_fault(triton("max_batch_size: 2"), "task: train, ", "{step_fit: {base: 1 s}}", ", output_tokens: 9") ==
      R"(s.yaml:7:58: pools[0].engine.args: jobs of training steps do not share a batch: max_batch_size (2) must be 1 or 0
  engine: {kind: triton, version: core-2026-06-09, args: {max_batch_size: 2}}
                                                         ^)");
}

TEST_CASE("an embedding is one answer") {
  CHECK(embed_fault(triton(""), "task: embed, ", "roofline", ", output_tokens: 2") ==
        R"(s.yaml:2:89: workload[0].synth.output_tokens: a request of the task embed has one answer; leave it out
workload: {synth: {requests: 5, arrivals: {rate: 1/s}, prompt_tokens: 9, output_tokens: 2}}
                                                                                        ^)");
  CHECK(embed_fault(triton(""), "task: embed, ", "roofline", ", output_tokens: 1") == "no error");
}

namespace {

std::string vllm_fault(const std::string& args, const std::string& rest = "") {
  return engine_fault("{kind: vllm, version: \"0.19\", args: {max_num_seqs: 9, max_num_batched_tokens: 99, " + args +
                      "}}" + rest);
}

/// The message without the source line and the caret.
std::string message(const std::string& fault) { return fault.substr(0, fault.find('\n')); }

std::string drafts(const std::string& config) { return "speculative_config: {" + config + "}"; }

}  // namespace

TEST_CASE("asynchronous scheduling is on, off or left to the engine") {
  CHECK(message(vllm_fault("async_scheduling: maybe")) ==
        "s.yaml:32:113: pools[1].engine.args.async_scheduling: unknown value \"maybe\"");
  CHECK(vllm_fault("async_scheduling: \"auto\"") == "no error");
}

TEST_CASE("a message holds a token at least") {
  CHECK(message(vllm_fault("stream_interval: 0")) ==
        "s.yaml:32:112: pools[1].engine.args.stream_interval: must be a whole number from 1 to 1000000000, got \"0\"");
  CHECK(vllm_fault("stream_interval: 8") == "no error");
}

TEST_CASE("speculation needs its method, its drafts, how many are accepted, and the time of a model that drafts") {
  const std::string at = "s.yaml:32:115: pools[1].engine.args.speculative_config: ";
  CHECK(message(vllm_fault(drafts("num_speculative_tokens: 2"))) == at + "missing key \"method\"");
  CHECK(message(vllm_fault(drafts("method: ngram, num_speculative_tokens: 2"))) ==
        at + "needs one of synthetic_acceptance_rates or synthetic_acceptance_length");
  CHECK(message(vllm_fault(drafts("method: eagle, num_speculative_tokens: 2, synthetic_acceptance_length: 1.5"))) ==
        at + "missing key \"draft_time\"");
  CHECK(
      message(vllm_fault(drafts("method: ngram, num_speculative_tokens: 3, synthetic_acceptance_rates: [0.5, 0.5]"))) ==
      "s.yaml:32:186: pools[1].engine.args.speculative_config.synthetic_acceptance_rates: 2 rates for 3 drafts: state "
      "one for each");
  CHECK(message(vllm_fault(drafts("method: ngram, num_speculative_tokens: 3, synthetic_acceptance_length: 3.5"))) ==
        "s.yaml:32:187: pools[1].engine.args.speculative_config.synthetic_acceptance_length: must be at most 3, got "
        "\"3.5\"");
  CHECK(message(vllm_fault(drafts("method: medusa, num_speculative_tokens: 3"))) ==
        "s.yaml:32:124: pools[1].engine.args.speculative_config.method: unknown value \"medusa\"");
  const std::string sound = drafts(
      "method: eagle, model: x/y, num_speculative_tokens: 2, synthetic_acceptance_length: 1.5, draft_time: 1 ms");
  CHECK(vllm_fault(sound) == "no error");
  CHECK(vllm_fault(sound + ", async_scheduling: auto") == "no error");
  CHECK(
      message(vllm_fault(sound + ", async_scheduling: true")) ==
      "s.yaml:32:49: pools[1].engine.args: async_scheduling together with speculative_config is not modelled yet: turn "
      "it off");
}

TEST_CASE("KV on the host needs the bandwidth to it and a prefix cache, and the bandwidth needs KV there") {
  const std::string bandwidth = "\n    host_bandwidth: 50 GB/s";
  CHECK(vllm_fault("kv_offloading_size: 12.5", bandwidth) == "no error");
  CHECK(message(vllm_fault("kv_offloading_size: 12.5")) ==
        "s.yaml:30:5: pools[1]: missing key \"host_bandwidth\": what a replica reads from its host, such as 50 GB/s");
  CHECK(message(vllm_fault("kv_offloading_size: 12.5, enable_prefix_caching: false", bandwidth)) ==
        "s.yaml:32:115: pools[1].engine.args.kv_offloading_size: needs enable_prefix_caching: blocks are found by the "
        "hashes of its cache");
  CHECK(
      message(vllm_fault("kv_offloading_size: none", bandwidth)) ==
      "s.yaml:33:21: pools[1].host_bandwidth: nothing is kept on the host: state kv_offloading_size, or leave it out");
  CHECK(message(vllm_fault("kv_offloading_size: 0.001", bandwidth)) ==
        "s.yaml:32:115: pools[1].engine.args.kv_offloading_size: holds no block of 2097152 bytes");
  CHECK(
      message(vllm_fault("kv_offloading_backend: lmcache")) ==
      "s.yaml:32:118: pools[1].engine.args.kv_offloading_backend: lmcache is known but not modelled yet: leave it out");
}
