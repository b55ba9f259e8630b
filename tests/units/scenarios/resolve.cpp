// SPDX-License-Identifier: Apache-2.0
#include "scenarios/resolve.h"

#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "scenarios/engines/engine_kind.h"
#include "tests/support/scenario_text.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

void check_same(const StepCurve& a, const StepCurve& b) {
  const std::vector<PrefillChunk> chunks = {{512, 0}, {64, 4096}};
  for (std::int64_t decodes : {0, 1, 7, 300}) {
    StepShape shape;
    shape.prefill = chunks;
    shape.decode_requests = decodes;
    shape.decode_context = decodes * 1234;
    shape.tokens = 576 + decodes;
    shape.sampled = decodes + 1;
    CHECK(a.step(shape).value == b.step(shape).value);
    CHECK(a.in_range(shape) == b.in_range(shape));
  }
}

void check_same(const PoolSpec& a, const PoolSpec& b) {
  CHECK(a.name == b.name);
  CHECK(a.replicas == b.replicas);
  CHECK(a.ranks == b.ranks);
  CHECK(a.balancer.name == b.balancer.name);
  CHECK(a.role == b.role);
  CHECK(a.node == b.node);
  CHECK(a.kv_bytes_per_token == b.kv_bytes_per_token);
  CHECK(a.devices_per_replica == b.devices_per_replica);
  CHECK(a.max_pending_requests == b.max_pending_requests);
  CHECK(a.price_per_replica.value == b.price_per_replica.value);
  CHECK((a.engine == b.engine));
  check_same(*a.curve, *b.curve);
}

void check_same(const ClassSpec& a, const ClassSpec& b) {
  CHECK(a.name == b.name);
  CHECK(a.model == b.model);
  CHECK(a.priority == b.priority);
  CHECK(a.timeout == b.timeout);
  CHECK(a.patience == b.patience);
  CHECK(a.availability == b.availability);
  CHECK(a.batch == b.batch);
  CHECK(a.barred == b.barred);
  CHECK((a.retry == b.retry));
  REQUIRE(a.objectives.size() == b.objectives.size());
  for (std::size_t i = 0; i < a.objectives.size(); ++i) {
    CHECK(a.objectives[i].metric == b.objectives[i].metric);
    CHECK(a.objectives[i].percentile == b.objectives[i].percentile);
    CHECK(a.objectives[i].limit == b.objectives[i].limit);
  }
}

void check_same(const ModelSpec& a, const ModelSpec& b) {
  CHECK(a.name == b.name);
  CHECK(a.context_limit == b.context_limit);
  CHECK(a.output_limit == b.output_limit);
  CHECK(a.input_limit == b.input_limit);
  CHECK(a.streaming == b.streaming);
  CHECK(a.cancellation == b.cancellation);
  CHECK(a.compatibility == b.compatibility);
  CHECK(a.on_too_long == b.on_too_long);
  REQUIRE(a.implementations.size() == b.implementations.size());
  for (std::size_t i = 0; i < a.implementations.size(); ++i) {
    CHECK(a.implementations[i].pool == b.implementations[i].pool);
    CHECK(a.implementations[i].context_limit == b.implementations[i].context_limit);
    CHECK(a.implementations[i].input_limit == b.implementations[i].input_limit);
    CHECK(a.implementations[i].output_limit == b.implementations[i].output_limit);
    CHECK(a.implementations[i].shapes == b.implementations[i].shapes);
    CHECK(a.implementations[i].status == b.implementations[i].status);
    CHECK(a.implementations[i].streams == b.implementations[i].streams);
    CHECK(a.implementations[i].cancels == b.implementations[i].cancels);
    CHECK(a.implementations[i].evaluation == b.implementations[i].evaluation);
    CHECK(a.implementations[i].economics == b.implementations[i].economics);
  }
}

/// Two sources that bring the same requests, as far as they come without answers.
void check_same(Source& a, Source& b) {
  for (int i = 0; i < 50 && a.peek() != kNever; ++i) {
    REQUIRE(a.peek() == b.peek());
    const Arrival left = a.pop(), right = b.pop();
    CHECK(left.intended == right.intended);
    CHECK(left.cls == right.cls);
    CHECK(left.prompt_tokens == right.prompt_tokens);
    CHECK(left.output_tokens == right.output_tokens);
    CHECK(left.priority == right.priority);
    CHECK(left.session == right.session);
    CHECK(left.content.prompt.size() == right.content.prompt.size());
    CHECK(left.content.output == right.content.output);
  }
  CHECK(a.peek() == b.peek());
}

void check_same(const SimulationSpec& a, const SimulationSpec& b) {
  CHECK(a.seed == b.seed);
  CHECK(a.routing.gateway.name == b.routing.gateway.name);
  CHECK((a.routing.rules == b.routing.rules));
  CHECK(a.routing.gateway.weights == b.routing.gateway.weights);
  CHECK(a.measure.warm_up == b.measure.warm_up);
  CHECK(a.measure.warm_up_requests == b.measure.warm_up_requests);
  CHECK(a.measure.until == b.measure.until);
  CHECK(a.topology.nodes() == b.topology.nodes());
  REQUIRE(a.topology.links().size() == b.topology.links().size());
  for (std::size_t i = 0; i < a.topology.links().size(); ++i) {
    CHECK(a.topology.links()[i].a == b.topology.links()[i].a);
    CHECK(a.topology.links()[i].b == b.topology.links()[i].b);
    CHECK(a.topology.links()[i].bandwidth.value == b.topology.links()[i].bandwidth.value);
    CHECK(a.topology.links()[i].latency.value == b.topology.links()[i].latency.value);
  }
  REQUIRE(a.pools.size() == b.pools.size());
  REQUIRE(a.routing.pool.size() == b.routing.pool.size());
  for (std::size_t i = 0; i < a.pools.size(); ++i) {
    check_same(a.pools[i], b.pools[i]);
    CHECK(a.routing.pool[i].name == b.routing.pool[i].name);
  }
  REQUIRE(a.models.size() == b.models.size());
  for (std::size_t i = 0; i < a.models.size(); ++i) check_same(a.models[i], b.models[i]);
  REQUIRE(a.classes.size() == b.classes.size());
  for (std::size_t i = 0; i < a.classes.size(); ++i) check_same(a.classes[i], b.classes[i]);
  REQUIRE(a.sources.size() == b.sources.size());
  for (std::size_t i = 0; i < a.sources.size(); ++i) {
    CHECK(a.sources[i].max_concurrency == b.sources[i].max_concurrency);
    check_same(*a.sources[i].source, *b.sources[i].source);
  }
}

/// What the gates judge, and what is only recorded.
void check_same_evidence(const LogicalModel& a, const LogicalModel& b) {
  CHECK(a.suite == b.suite);
  CHECK(a.threshold == b.threshold);
  CHECK(a.confidence == b.confidence);
  CHECK(a.version == b.version);
  CHECK(a.contract.schema == b.contract.schema);
  CHECK(a.contract.streaming == b.contract.streaming);
  CHECK(a.contract.cancellation == b.contract.cancellation);
  CHECK(a.contract.metadata == b.contract.metadata);
  CHECK(a.contract.compatibility_pool == b.contract.compatibility_pool);
  REQUIRE(a.contract.errors.size() == b.contract.errors.size());
  for (std::size_t i = 0; i < a.contract.errors.size(); ++i) {
    CHECK(a.contract.errors[i].name == b.contract.errors[i].name);
    CHECK(a.contract.errors[i].reasons == b.contract.errors[i].reasons);
    CHECK(a.contract.errors[i].retry == b.contract.errors[i].retry);
  }
  REQUIRE(a.contract.cost.has_value() == b.contract.cost.has_value());
  if (a.contract.cost) {
    CHECK(a.contract.cost->prompt_tokens == b.contract.cost->prompt_tokens);
    CHECK(a.contract.cost->output_tokens == b.contract.cost->output_tokens);
    CHECK(a.contract.cost->batch == b.contract.cost->batch);
    CHECK(a.contract.cost->margin == b.contract.cost->margin);
    CHECK(a.contract.cost->incumbent == b.contract.cost->incumbent);
    CHECK(a.contract.cost->per_million_tokens == b.contract.cost->per_million_tokens);
  }
  REQUIRE(a.implementations.size() == b.implementations.size());
  for (std::size_t i = 0; i < a.implementations.size(); ++i) {
    const ImplementationEntry& left = a.implementations[i];
    const ImplementationEntry& right = b.implementations[i];
    CHECK(left.artifact == right.artifact);
    CHECK(left.status == right.status);
    CHECK(left.evaluations == right.evaluations);
    CHECK(left.calibration == right.calibration);
    CHECK(left.software == right.software);
    CHECK(left.history == right.history);
  }
}

bool same(const ThinkSpec& a, const ThinkSpec& b) { return a.kind == b.kind && a.mean == b.mean && a.cv == b.cv; }

void check_same(const TraceSpec& a, const TraceSpec& b) {
  CHECK(a.file == b.file);
  CHECK(a.format == b.format);
  CHECK(a.time_unit == b.time_unit);
  CHECK(a.rate_scale == b.rate_scale);
  CHECK(a.window_begin == b.window_begin);
  CHECK(a.window_end == b.window_end);
  CHECK(a.min_prompt_tokens == b.min_prompt_tokens);
  CHECK(a.max_prompt_tokens == b.max_prompt_tokens);
  CHECK(a.min_output_tokens == b.min_output_tokens);
  CHECK(a.max_output_tokens == b.max_output_tokens);
  CHECK(a.model == b.model);
  CHECK(a.limit == b.limit);
  CHECK(a.on_bad_row == b.on_bad_row);
  CHECK(a.spread == b.spread);
  CHECK(a.replay == b.replay);
  CHECK(a.block_tokens == b.block_tokens);
  CHECK(a.quantum == b.quantum);
  CHECK(a.reorder == b.reorder);
  CHECK(a.file_gap == b.file_gap);
}

void check_same(const SynthSpec& a, const SynthSpec& b) {
  CHECK(a.requests == b.requests);
  CHECK(a.duration == b.duration);
}

void check_same(const ClosedLoopSpec& a, const ClosedLoopSpec& b) {
  CHECK(a.requests == b.requests);
  CHECK(a.duration == b.duration);
  CHECK(a.ramp == b.ramp);
  CHECK(same(a.think_time, b.think_time));
}

void check_same(const SessionsSpec& a, const SessionsSpec& b) {
  CHECK(a.sessions == b.sessions);
  CHECK(a.duration == b.duration);
  CHECK(a.max_context == b.max_context);
  CHECK(same(a.think_time, b.think_time));
}

/// What the first requests of a source cannot show.
void check_same_load(const WorkloadEntry& a, const WorkloadEntry& b) {
  REQUIRE(a.load.index() == b.load.index());
  std::visit([&](const auto& left) { check_same(left, std::get<std::decay_t<decltype(left)>>(b.load)); }, a.load);
}

void check_same_range(const PoolEntry& a, const PoolEntry& b) {
  const auto* const left = std::get_if<StepFit>(&a.curves);
  if (left == nullptr) return;
  const StepFit& right = std::get<StepFit>(b.curves);
  CHECK(left->max_tokens == right.max_tokens);
  CHECK(left->max_decode_requests == right.max_decode_requests);
  CHECK(left->max_decode_context == right.max_decode_context);
  CHECK(left->max_prefill_context == right.max_prefill_context);
  CHECK(left->source == right.source);
}

void check_same_scenario(const Scenario& first, const Scenario& second) {
  CHECK(scenario_digest(second) == scenario_digest(first));
  for (std::size_t w = 0; w < first.workload.size(); ++w) check_same_load(first.workload[w], second.workload[w]);
  for (std::size_t m = 0; m < first.models.size(); ++m) check_same_evidence(first.models[m], second.models[m]);
  for (std::size_t p = 0; p < first.pools.size(); ++p) check_same_range(first.pools[p], second.pools[p]);
}

void check_round_trip(const std::string& text) {
  const Scenario first = loaded(text);
  const std::string resolved = resolved_yaml(first);
  CAPTURE(resolved);
  const Scenario second = loaded(resolved);
  CHECK(resolved_yaml(second) == resolved);
  check_same_scenario(first, second);
  check_same(build(first).spec, build(second).spec);
}

/// Two models on five pools with every engine argument, curve, price and contract key at another value than its
/// default.
const char* const kEverything = R"(
version: 1
seed: 12345678901234
workload:
  - {model: dense, class: chat, priority: -3, max_concurrency: 8,
     synth: {requests: 40, duration: 1500 ms, arrivals: {process: gamma, rate: 333.3/s, cv: 2.5},
             prompt_tokens: {distribution: exponential, mean: 300.5, min: 10, max: 2000},
             output_tokens: {distribution: uniform, min: 5, max: 50}}}
  - {model: dense, class: "odd: name, [x]",
     synth: {duration: 3 s, arrivals: {process: on-off, rate: 50/s, on: 100 ms, off: 250 ms},
             prompt_tokens: {distribution: empirical, table: [[10, 1], [500, 2.5]], max: 400}, output_tokens: 7}}
  - {model: dense, class: chat,
     synth: {requests: 9, arrivals: {process: piecewise, pieces: [[0 s, 5/s], [90 s, 1800/h]]},
             prompt_tokens: {distribution: fixed, mean: 12}, output_tokens: 3}}
  - {model: dense, class: chat,
     synth: {requests: 9, arrivals: {process: diurnal, rate: 6/min, period: 1 h, amplitude: 0.9},
             prompt_tokens: 1, output_tokens: 1}}
  - {model: dense, class: chat,
     synth: {requests: 9, arrivals: {process: deterministic, rate: 7/s}, prompt_tokens: 1, output_tokens: 1}}
  - {model: experts, class: default,
     closed_loop: {users: 3, requests: 11, duration: 1 h, ramp: 750 ms, think_time: {distribution: lognormal, mean: 2 s, cv: 0.7},
                   prompt_tokens: 100, output_tokens: 20}}
  - {model: experts,
     sessions: {sessions: 6, duration: 1 d, arrivals: {rate: 0.25/s}, turns: {distribution: uniform, min: 1, max: 4},
                first_prompt_tokens: 200, turn_tokens: 50, output_tokens: 30,
                think_time: {distribution: exponential, mean: 3 s}, max_context: 900}}
models:
  - name: dense
    version: "3.10"
    shape: {base: llama-3.1-8b, tied_embeddings: true, layers: 20}
    contract:
      schema: "schemas/chat: v2.json"
      streaming: true
      cancellation: true
      limits: {context: 4096, input: 3500, output: 1000}
      on_too_long: truncate
      data_handling: {"in: house": {regions: [eu-west, "us: 1"], pools: [one, two]}, eu: {regions: eu-west}}
      errors:
        overloaded: {reasons: [queue_full, saturated], retry: true}
        "too: long": {reasons: [context_limit, no_compiled_shape]}
      metadata: [pool, artifact, version]
      cost: {at: {prompt_tokens: 700, output_tokens: 90, batch: 7}, per_million_tokens: $12.5, margin: 15 %, incumbent: two}
      compatibility_pool: two
      classes:
        chat: {priority: 2, timeout: 30 s, patience: 2.5 s,
               batch: true, data_handling: "in: house",
               retry: {max: 4, backoff: 70 ms, factor: 2.5, max_backoff: 9 s, jitter: 0.3, budget: 15 %, window: 20 s,
                       reasons: [queue_full, quota, patience]},
               objectives: {availability: 99.9 %, ttft: {p50: 100 ms, p99.9: 3 s}, itl: {p95: 60 ms}, queue_delay: {p90: 1 s}, ntpot: {p90: 1 s}}}
        "odd: name, [x]": {}
    evaluation: {suite: "a # b", threshold: 0.86, confidence: 90 %}
    implementations:
      - {pool: one, precision: fp8, kv_precision: fp8, artifact: fp8-x, status: canary,
         limits: {context: 2048, input: 2000, output: 900}, shapes: {input: [128, 1024], context: [2048]},
         evaluation: {score: 0.871, samples: 4000}}
      - pool: two
        artifact: {name: "int8: y", digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                   precision: int8, layout: {dp: 2}, sbom: "boms/y.json"}
        shapes: [{context: 512}, {input: 3000, context: 4096}]
        streaming: false
        cancellation: false
        evaluation: [{suite: other, score: 0.5, samples: 10, threshold: 0.4, date: 2026-08-01},
                     {score: 0.9, samples: 5000, date: 2026-08-02}]
        calibration: calibration/y.h5
        software: {driver: "550.1", "neuron: x": 2.20}
        history: [{date: 2026-07-01, event: "built: by hand"}, {date: 2026-08-02, event: qualified}]
      - {pool: "three.5"}
  - name: experts
    shape: {name: mine, layers: 4, hidden: 512, heads: 8, head_dim: 64, kv_heads: 2, intermediate: 1024, vocab: 1000, mlp_matrices: 2,
            context_limit: 4096, moe: {experts: 8, experts_per_token: 2, intermediate: 256, shared_experts: 1, first_dense_layers: 1}}
    implementations: [{pool: four}, {pool: five}]
pools:
  - name: one
    region: "us: 1"
    accelerator: {base: h100-sxm, tdp: 650 W, memory_bandwidth: 3.3 TB/s}
    layout: {tp: 2, pp: 2}
    replicas: 3
    engine:
      kind: vllm
      version: mainline-2026-08-17
      usage: offline
      args: {max_num_seqs: 17, max_num_batched_tokens: 1111, max_model_len: 4000, block_size: 32, gpu_memory_utilization: 0.85,
             enable_chunked_prefill: true, long_prefill_token_threshold: 500, scheduling_policy: priority,
             preemption_victim: lcf, scheduler_reserve_full_isl: false, watermark: 0.01, stream_interval: 2, async_scheduling: false,
             cudagraph_capture_sizes: [1, 8, 32],
             speculative_config: {method: eagle, num_speculative_tokens: 2, synthetic_acceptance_rates: [0.75, 0.5], draft_time: 2 ms},
             kv_offloading_size: 12.5}
    host_bandwidth: 40 GB/s
    curves: {roofline: {compute_efficiency: 0.6, attention_efficiency: 0.4, memory_efficiency: 0.7, link_efficiency: 0.5,
                        link_latency: 700 ns, host_base: 1.5 ms, host_per_request: 6 us, compute: bf16}}
    price: {reserved: $16.80/h per replica}
    max_pending_requests: 12
  - name: two
    accelerator: a100-sxm-80gb
    layout: {dp: 2}
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 9, max_num_batched_tokens: 4096, num_gpu_blocks_override: 777,
             data_parallel_size: 2, dp_balancer: vllm-dplb, enforce_eager: true,
             enable_chunked_prefill: false, kv_cache_dtype: fp8}}
    price: {list: oci/BM.GPU.A100-v2.8}
  - name: "three.5"
    accelerator: {name: own chip, title: "My: chip", kind: npu, bf16: 100 TFLOP/s, memory: 64 GiB, memory_bandwidth: 1 TB/s}
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 9, max_num_batched_tokens: 64}}
    price: none
  - name: four
    accelerator: tpu-v6e
    engine: {kind: vllm, version: mainline-2026-08-17}
    curves: {step_fit: {base: 8 ms, per_token: 20 us, per_request: 30 us, per_context_token: 2 ns, per_prefill_context: 3 ns,
                        range: {tokens: 2048, batch: 200, context: 30000, prefill_context: 9000}, source: "log of # 3"}}
    price: {reserved: $0/h}
  - name: five
    accelerator: mi300x
    layout: {tp: 2, pp: 2, dp: 2, ep: 4}
    engine: {kind: vllm, version: mainline-2026-08-17, args: {enable_expert_parallel: true, max_cudagraph_capture_size: 64}}
    curves: {roofline: {expert_skew: 0.5, host_overlap: true}}
    price: {reserved: $3.333333333/h}
routing:
  gateway:
    policy: weighted
    weights: {one: 0.1, two: 0.7, "three.5": 0.2, four: 1}
    sticky: user
    priorities: {two: 1, "three.5": 7}
    length_tiers: [{prompt_tokens: [0, 1000], pools: one}, {pools: [two, "three.5", four]}]
    fallbacks: {pools: {one: [two, "three.5"], two: "three.5", four: five}, models: {dense: experts}, context_window: {experts: dense}}
    cooldowns:
      - {pools: [one, two], allowed_fails: 7, failure_share: 40 %, min_requests: 9, window: 30 s, cooldown_time: 12 s,
         failures: [stalled, patience]}
      - {pools: five, allowed_fails: none, failure_share: none}
    circuit_breakers: {pools: four, failure_threshold: 4, success_threshold: 2, timeout: 15 s, window: 25 s, failures: timeout}
    quotas:
      - {model: experts, requests: 70, per: 10 s, shadow: true}
      - {class: chat, tokens: 1e6, per: 1 min, beyond: next-tier}
      - {requests: 5, per: 1 s, beyond: fallback}
    mirror: [{from: one, to: two, share: 5 %, cost: counts}, {from: four, to: five}]
  pool: {policy: least-request}
  pools: {two: {policy: power-of-two}}
measure: {warm_up: {time: 1 min, requests: 5}, until: 2 h}
)";

/// Every argument of the other engines at another value than its default.
const char* const kEngines = R"(
version: 1
workload:
  - {model: text, synth: {requests: 10, arrivals: {rate: 5/s}, prompt_tokens: 100, output_tokens: 20}}
  - {model: vectors, synth: {requests: 10, arrivals: {rate: 5/s}, prompt_tokens: 100}}
  - {model: pictures, closed_loop: {users: 2, requests: 10, prompt_tokens: 100}}
  - {model: jobs, closed_loop: {users: 2, requests: 10, prompt_tokens: 4096, output_tokens: 500}}
models:
  - name: text
    shape: llama-3.1-8b
    contract: {limits: {context: 8192}}
    implementations: [{pool: sglang}, {pool: trt}, {pool: tpu}, {pool: neuron}, {pool: jetstream}]
  - {name: vectors, task: embed, shape: {base: llama-3.1-8b, layers: 4}, contract: {limits: {context: 1000}}, implementations: [{pool: triton}, {pool: session}]}
  - {name: pictures, task: image, steps: 28, contract: {limits: {context: 5000}}, implementations: {pool: painter}}
  - {name: jobs, task: train, contract: {limits: {context: 5000}}, implementations: {pool: trainer}}
pools:
  - name: sglang
    accelerator: h100-sxm
    price: none
    engine:
      kind: sglang
      version: mainline-2026-07-20
      fidelity: upstream
      args: {max-total-tokens: 30000, mem_fraction_static: 0.7, kv_cache_dtype: fp8_e4m3, context_length: 4000, page_size: 16,
             max_running_requests: 99, chunked_prefill_size: 1600, max_prefill_tokens: 3000, prefill_max_requests: 7,
             schedule_policy: lof, schedule_conservativeness: 0.4, enable_mixed_chunk: true, disable_overlap_schedule: true,
             disable_radix_cache: true, radix_eviction_policy: slru, retraction_policy: priority,
             enable_priority_scheduling: true, schedule_low_priority_values_first: true, disable_priority_preemption: true,
             priority_scheduling_preemption_threshold: 3, SGLANG_INIT_NEW_TOKEN_RATIO: 0.6,
             SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR: 0.2, SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS: 500, SGLANG_RETRACT_DECODE_STEPS: 10,
             SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION: 2048, IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD: 16,
             IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD: 17, random_seed: 5, declared_output_factor: 2.5, tp-size: 1,
             enable-lora: false, disaggregation-mode: "null", stream_interval: 4}
  - name: trt
    accelerator: h100-sxm
    price: none
    engine:
      kind: tensorrt-llm
      version: main-2026-05
      args:
        max_batch_size: 64
        max_num_tokens: 4000
        max_seq_len: 5000
        enable_chunked_prefill: true
        disable_overlap_scheduler: true
        batch_wait_timeout_iters: 3
        batch_wait_max_tokens_ratio: 0.5
        kv_cache_config: {tokens_per_block: 64, max_tokens: 99999, free_gpu_memory_fraction: 0.5, dtype: fp8, enable_block_reuse: false,
                          enable_partial_reuse: false, host_cache_size: 0}
        scheduler_config: {capacity_scheduler_policy: STATIC_BATCH, context_chunking_policy: EQUAL_PROGRESS,
                           waiting_queue_policy: priority, enable_prefix_aware_scheduling: false}
        cuda_graph_config: {batch_sizes: [1, 2, 4], enable_padding: true}
  - name: tpu
    accelerator: tpu-v6e
    layout: {tp: 4}
    price: none
    engine:
      kind: bucketed
      version: vllm-tpu-2026-08-22
      args: {flavour: vllm-tpu, max_num_seqs: 100, max_num_batched_tokens: 1000, max_model_len: 4096, block_size: 32,
             num_gpu_blocks_override: 3000, gpu_memory_utilization: 0.8, kv_cache_dtype: fp8, long_prefill_token_threshold: 300,
             scheduler_reserve_full_isl: false, enable_prefix_caching: false, MIN_TOKEN_BUCKET: 32,
             VLLM_TPU_BUCKET_PADDING_GAP: 256, MIN_NUM_SEQS: 4, compilation_sizes: [48, 300], SKIP_JAX_PRECOMPILE: true,
             compile_time: 30 s, compile_time_per_token: 2 ms, compile_cache: true, cached_compile_time: 700 ms}
  - name: neuron
    accelerator: trainium2
    layout: {tp: 4}
    price: none
    engine:
      kind: bucketed
      version: neuron-2026-07-28
      args: {max_num_seqs: 8, max_context_length: 2000, max_model_len: 4096,
             override_neuron_config: {enable_bucketing: false, context_encoding_buckets: [500, 2000],
                                      token_generation_buckets: [1000, 4096], token_generation_batches: [2, 8]},
             compile_ahead: false, compile_time: 30 s, compile_time_per_token: 2 ms, compile_cache: true, cached_compile_time: 700 ms}
  - name: jetstream
    accelerator: tpu-v5e
    layout: {tp: 8}
    price: none
    engine:
      kind: bucketed
      version: jetstream-2026-01-05
      args: {max_concurrent_decodes: 24, max_target_length: 2048, max_prefill_length: 1024, prefill_buckets: [64, 1024],
             enable_model_warmup: true, compile_time: 20 s, compile_time_per_token: 1 ms, compile_cache: true,
             cached_compile_time: 1 s}
  - name: triton
    accelerator: xeon-6980p
    price: none
    engine:
      kind: triton
      version: core-2026-06-09
      args:
        backend: onnxruntime
        max_batch_size: 16
        dynamic_batching:
          preferred_batch_size: [4, 8]
          max_queue_delay_microseconds: 500
          preserve_ordering: true
          priority_levels: 2
          default_priority_level: 1
          default_queue_policy: {timeout_action: DELAY, default_timeout_microseconds: 1000, max_queue_size: 50}
          priority_queue_policy: {1: {max_queue_size: 9}, 2: {default_timeout_microseconds: 7}}
        instance_group: [{count: 3, kind: KIND_CPU}]
        max_tokens: 900
    curves: {step_fit: {base: 8 ms, per_token: 2 us}}
  - name: session
    accelerator: xeon-6980p
    price: none
    engine: {kind: session, version: onnxruntime-2025, args: {instance_count: 4, intra_op_num_threads: 16, physical_cores: 128,
             session.intra_op.allow_spinning: false, max_tokens: 800}}
    curves: {step_fit: {base: 8 ms, per_token: 2 us}}
  - name: painter
    accelerator: l40s
    price: none
    engine: {kind: triton, version: core-2026-06-09, args: {backend: onnxruntime, dynamic_batching: true, max_batch_size: 2,
             preferred_batch_size: [2], max_queue_delay_microseconds: 1, preserve_ordering: true, priority_levels: 1,
             default_priority_level: 1, default_queue_policy: {max_queue_size: 1}, priority_queue_policy: {1: {}},
             instance_group: {count: 2}, max_tokens: 4999}}
    curves: {step_fit: {base: 8 ms, per_token: 2 us}}
  - name: trainer
    accelerator: h100-sxm
    layout: {tp: 8}
    price: none
    engine: {kind: session, version: onnxruntime-2025, args: {instance_count: 2, intra_op_num_threads: 1, physical_cores: 2,
             allow_spinning: false, max_tokens: 4998}}
    curves: {step_fit: {base: 800 ms}}
)";

}  // namespace

TEST_CASE("the resolved scenario gives the same simulation") { check_round_trip(sound_scenario()); }

TEST_CASE("the resolved scenario gives the same simulation whatever it states") { check_round_trip(kEverything); }

TEST_CASE("the resolved scenario gives the same simulation of a move that states only what it must, and of retries") {
  std::string text = changed("weights: {a: 3, b: 1}", "weights: {a: 3, b: 0}");
  text += "move: {from: a, to: b, steps: [{share: 10 %, for: 1 min}], gates: {error_rate: 1 %}}\n";
  const std::string at = "        slow: {}\n";
  text.replace(text.find(at), at.size(),
               "        slow: {retry: {max: 2}}\n      errors: {busy: {reasons: queue_full}}\n");
  check_round_trip(text);
}

TEST_CASE("airunway#139: check tells how many whole sequences a KV cache holds, not what bandwidth alone would serve") {
  const std::string text =
      "version: 1\nworkload: {synth: {requests: 1, arrivals: {rate: 1/s}, prompt_tokens: 9, "
      "output_tokens: 9}}\nmodels: {name: m, shape: llama-3.1-8b, contract: {limits: {context: "
      "8000}}}\npools:\n  name: p\n  accelerator: h100-sxm\n  engine: {kind: vllm, version: "
      "mainline-2026-08-17, args: {num_gpu_blocks_override: 1001}}\n  price: none\n";
  CHECK(resolved_yaml(loaded(text))
            .find("# KV cache: 16000 tokens in blocks of 16: 2.00 sequences of "
                  "8000 tokens at once\n") != std::string::npos);
}

TEST_CASE("the resolved scenario gives the same simulation of every engine, whatever its arguments") {
  check_round_trip(kEngines);
  for (const char* name : {"engines_side_by_side.yaml", "one_pass.yaml", "disaggregated.yaml", "layouts.yaml"}) {
    check_round_trip(read_text_file(std::string(POOLCAST_SOURCE_DIR "/scenarios/examples/") + name));
  }
}

TEST_CASE("no engine argument of the resolved scenario keeps its default, so that each is seen to survive") {
  const Scenario scenario = loaded(kEngines);
  for (const PoolEntry& pool : scenario.pools) {
    const auto defaults = source_catalog().engine_defaults(pool.engine.kind, pool.engine.version, pool.accelerator);
    for (const std::string& name : pool.engine.modelled) {
      CAPTURE(pool.name, name);
      const EngineArgument& argument = *engine_kind(pool.engine.kind)->find(name);
      if (argument.of_version) continue;
      CHECK(argument.text(pool.engine.settings) != argument.text(defaults->settings));
    }
  }
}

TEST_CASE("the resolved scenario gives the same simulation of latent attention") {
  std::string text = changed("shape: llama-3.1-8b", "shape: {base: deepseek-v3, layers: 9}");
  for (int pool = 0; pool < 2; ++pool) {
    const std::string from = pool == 0 ? "layout: {tp: 1}" : "accelerator: mi300x";
    text.replace(text.find(from), from.size(),
                 pool == 0 ? "layout: {tp: 8}" : "accelerator: mi300x\n    layout: {tp: 8}");
  }
  check_round_trip(text);
}

TEST_CASE("the resolved scenario gives the same simulation of a trace") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"),
             "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n"
             "2023-11-16 18:15:50.9951690,396,109\r\n2023-11-16 18:15:51.2225670,879,55\r\n");
  std::string text = sound_scenario();
  const std::size_t from = text.find("synth:"), to = text.find("models:");
  text.replace(
      from, to - from,
      "trace: {file: " + folder.file("t.csv") +
          ", rate_scale: 0.3, time_window: [1 s, 1 h], filter: {prompt_tokens: [380, none]}, spread: uniform}\n");
  check_round_trip(text);
}

TEST_CASE("the resolved scenario keeps every parameter of a trace") {
  const TemporaryFolder folder;
  write_file(folder.file("t.csv"), "x\n");
  for (const std::string replay : {"spread: uniform, quantum: 1 s", "replay: sessions"}) {
    std::string text = sound_scenario();
    const std::size_t from = text.find("synth:"), to = text.find("models:");
    text.replace(from, to - from,
                 "trace: {file: " + folder.file("t.csv") + ", " + replay +
                     ", format: burstgpt, time_unit: ms, rate_scale: 2.5, time_window: [10 s, 30 min], filter: "
                     "{prompt_tokens: [1, 4000], output_tokens: [2, 99], model: \"GPT-4: new\"}, limit: 100, "
                     "on_bad_row: skip, block_tokens: 16, reorder: 2 s, file_gap: 1 min}\n");
    const Scenario first = loaded(text);
    check_same_scenario(first, loaded(resolved_yaml(first)));
  }
}

TEST_CASE("the resolved scenario shows its defaults") {
  const std::string text = resolved_yaml(loaded(sound_scenario()));
  for (const char* line :
       {"\n    max_concurrency: none\n", "\n          timeout: none\n", "\n        status: production\n",
        "\n      memory_bandwidth: 3.35 TB/s\n", "\n        gpu_memory_utilization: 0.9\n",
        "\n        memory_efficiency: 0.8\n", "\n    price: {reserved: $2.1/h per device}\n", "\n    price: none\n",
        "\n    b: {policy: round-robin}\n", "\n  until: none\n", "\n      context_limit: 131072\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("the digest changes with every change that matters, and with none that does not") {
  const std::string base = scenario_digest(loaded(sound_scenario()));
  CHECK(base.size() == 64);
  CHECK(scenario_digest(loaded("# a comment\n" + changed("replicas: 2", "replicas:   2"))) == base);
  CHECK(scenario_digest(loaded(changed("curves: roofline", "curves: {roofline: {memory_efficiency: 80 %}}"))) == base);
  CHECK(scenario_digest(loaded(changed("seed: 7", "seed: 8"))) != base);
  CHECK(scenario_digest(loaded(changed("replicas: 2", "replicas: 3"))) != base);
  CHECK(scenario_digest(loaded(changed("$2.10/h", "$2.11/h"))) != base);
  CHECK(scenario_digest(loaded(changed("rate: 5/s", "rate: 5.000000001/s"))) != base);
}

TEST_CASE("the digest knows a trace by its name and size, not by its folder") {
  const TemporaryFolder first, second;
  const auto digest = [](const std::string& file) {
    std::string text = sound_scenario();
    const std::size_t from = text.find("synth:"), to = text.find("models:");
    return scenario_digest(loaded(text.replace(from, to - from, "trace: " + file + "\n")));
  };
  write_file(first.file("t.csv"), "12345");
  write_file(second.file("t.csv"), "54321");
  write_file(second.file("u.csv"), "12345");
  CHECK(digest(first.file("t.csv")) == digest(second.file("t.csv")));
  CHECK(digest(first.file("t.csv")) != digest(second.file("u.csv")));
  write_file(second.file("t.csv"), "123456");
  CHECK(digest(first.file("t.csv")) != digest(second.file("t.csv")));
}

TEST_CASE("the digest is the SHA-256 of the resolved text without comments") {
  // Computed once by sha256sum over the text of `poolcast check` without its comments. It changes when the format or a
  // default changes: then every recorded digest changes, so look twice.
  CHECK(scenario_digest(loaded(sound_scenario())) ==
        "04d2b1c95b73aa32e3ddf43e42f421cdcbcbef513a42038ee3fac252925755b7");
}
