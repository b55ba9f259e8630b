// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM, PyTorch flow. Names: tensorrt_llm/llmapi/llm_args.py, also inside its mappings kv_cache_config and
// scheduler_config; telemetry: tensorrt_llm/metrics/collector.py (trtllm_…) and the
// statistics of an iteration (num…Requests), which trtllm-serve answers with at /metrics.
#include "scenarios/engines/engine_kind.h"

namespace poolcast {
namespace {

TensorrtLlmArgs& of(EngineArgs& args) { return std::get<TensorrtLlmArgs>(args); }
const TensorrtLlmArgs& of(const EngineArgs& args) { return std::get<TensorrtLlmArgs>(args); }

std::vector<EngineArgument> arguments() {
  using namespace argument;
  using T = TensorrtLlmArgs;
  return {count("max_batch_size", &T::max_batch_size, 1, 10'000'000),
          count("max_num_tokens", &T::max_num_tokens),
          count("max_seq_len", &T::max_seq_len),
          count("tokens_per_block", &T::tokens_per_block, 1, 1'000'000),
          stated_kv("max_tokens", 1),
          argument::memory_share("free_gpu_memory_fraction"),
          kv_dtype("kv_cache_dtype", {"auto", "bfloat16", "fp8"}),
          flag("enable_block_reuse", &T::enable_block_reuse),
          flag("enable_partial_reuse", &T::enable_partial_reuse),
          flag("enable_chunked_prefill", &T::enable_chunked_prefill),
          flag("enable_prefix_aware_scheduling", &T::enable_prefix_aware_scheduling),
          choice("capacity_scheduler_policy", &T::capacity_scheduler_policy,
                 {"GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH"}),
          choice("context_chunking_policy", &T::context_chunking_policy, {"FIRST_COME_FIRST_SERVED", "EQUAL_PROGRESS"}),
          choice("waiting_queue_policy", &T::waiting_queue_policy, {"fcfs", "priority"}),
          flag("disable_overlap_scheduler", &T::disable_overlap_scheduler),
          count("batch_wait_timeout_iters", &T::batch_wait_timeout_iters, 0),
          number("batch_wait_max_tokens_ratio", &T::batch_wait_max_tokens_ratio, 0, 1)};
}

KvRule kv_rule() {
  KvRule rule;
  rule.share = KvRule::Share::kOfFree;
  rule.share_argument = "free_gpu_memory_fraction";
  rule.stated_argument = "max_tokens";
  rule.block_size = [](const EngineArgs& args) { return of(args).tokens_per_block; };
  rule.set_blocks = [](EngineArgs& args, std::int64_t blocks) { of(args).num_blocks = blocks; };
  rule.set_stated = [](EngineArgs& args, std::int64_t tokens) {
    of(args).num_blocks = tokens / of(args).tokens_per_block;
  };
  rule.stated_in_tokens = true;
  rule.tokens = [](const EngineArgs& args) { return of(args).num_blocks * of(args).tokens_per_block; };
  rule.too_small = "requests that cannot fit are rejected";
  return rule;
}

/// A round has the budget of all its micro-batches, but a prompt that is not cut must fit into one of them.
void check(const EngineSettings& settings, const EngineSite& site) {
  const TensorrtLlmArgs& args = of(settings.args);
  if (site.layout.pp == 1 || args.enable_chunked_prefill || args.max_num_tokens >= args.max_seq_len) return;
  site.args.fail(fmt::format(
      "with pp above 1 and without chunked prefill max_num_tokens ({}) must be at least max_seq_len ({}) here",
      args.max_num_tokens, args.max_seq_len));
}

void finish(EngineSettings& settings, const EngineSite& site) {
  if (of(settings.args).num_blocks < 1) {
    site.args.fail(fmt::format("max_tokens ({}) is less than one block of {} tokens", settings.stated_kv.value_or(0),
                               of(settings.args).tokens_per_block));
  }
}

}  // namespace

EngineKind tensorrt_llm_kind() {
  EngineKind kind;
  kind.name = "tensorrt-llm";
  kind.blank = [] { return EngineArgs(TensorrtLlmArgs{}); };
  kind.arguments = arguments();
  kind.heavy = {{"speculative_config"},  {"host_cache_size"}, {"max_beam_width", "1"},   {"use_kv_cache_manager_v2"},
                {"enable_attention_dp"}, {"lora_config"},     {"batch_wait_timeout_ms"}, {"cache_transceiver_config"}};
  kind.aliases = {{"kv_cache_config.dtype", "kv_cache_dtype"}};
  kind.groups = {"kv_cache_config", "scheduler_config"};
  kind.tensor_parallel = "tensor_parallel_size";
  kind.pipeline_parallel = "pipeline_parallel_size";
  kind.expert_parallel = "moe_expert_parallel_size";
  kind.tasks = {Task::kGenerate};
  kind.context_argument = "max_seq_len";
  kind.context = [](EngineArgs& args) -> std::int64_t& { return of(args).max_seq_len; };
  kind.step_tokens = [](const EngineArgs& args) { return of(args).max_num_tokens; };
  kind.kv = kv_rule();
  kind.check = check;
  kind.finish = finish;
  // A batch of its own for each stage, each with both limits.
  kind.widen = [](EngineArgs& args, std::int64_t stages) {
    of(args).max_num_tokens *= stages;
    of(args).max_batch_size *= stages;
  };
  kind.telemetry.native = {{"trtllm_request_success_total", &ReplicaUse::completed},
                           {"trtllm_kv_cache_hit_rate", &ReplicaUse::prefix_hit_rate}};
  kind.telemetry.signals = {"numQueuedRequests", "numActiveRequests", "trtllm_kv_cache_utilization"};
  kind.left_out = {"the second KV cache manager is not modelled",
                   "no host cache",
                   "no speculative decoding",
                   "no beams",
                   "no LoRA",
                   "decode batches are not padded to CUDA graphs",
                   "host overhead is that of the curve"};
  return kind;
}

}  // namespace poolcast
