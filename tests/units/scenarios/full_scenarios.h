// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace poolcast::testing {

/// Two models on five pools with every engine argument, curve, price and contract key at another value than its
/// default.
inline constexpr const char* kEverything = R"(
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
inline constexpr const char* kEngines = R"(
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

}  // namespace poolcast::testing
