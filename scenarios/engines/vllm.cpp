// SPDX-License-Identifier: Apache-2.0
// vLLM V1. Names: vllm/config/{scheduler,cache}.py, vllm/engine/arg_utils.py; telemetry: vllm/v1/metrics/loggers.py.
#include "scenarios/engines/engine_kind.h"
#include "scenarios/engines/vllm_kv_rule.h"

namespace poolcast {
namespace {

VllmArgs& of(EngineArgs& args) { return std::get<VllmArgs>(args); }
const VllmArgs& of(const EngineArgs& args) { return std::get<VllmArgs>(args); }

EngineArgument watermark() {
  EngineArgument argument = argument::number("watermark", &VllmArgs::watermark, 0, 1);
  argument.set = [](EngineSettings& s, const YamlNode& v) {
    const double share = v.number(0, 1);
    if (share >= 1) v.fail("must be below 1, got " + quote(v.text()));
    of(s.args).watermark = share;
  };
  return argument;
}

std::vector<EngineArgument> arguments() {
  using namespace argument;
  return {count("max_num_seqs", &VllmArgs::max_num_seqs, 1, 10'000'000),
          count("max_num_batched_tokens", &VllmArgs::max_num_batched_tokens),
          count("max_model_len", &VllmArgs::max_model_len),
          count("block_size", &VllmArgs::block_size, 1, 1'000'000),
          stated_kv("num_gpu_blocks_override", 2),
          argument::memory_share("gpu_memory_utilization"),
          kv_dtype("kv_cache_dtype", {"auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"}),
          flag("enable_chunked_prefill", &VllmArgs::enable_chunked_prefill),
          count("long_prefill_token_threshold", &VllmArgs::long_prefill_token_threshold, 0),
          choice("scheduling_policy", &VllmArgs::policy, {"fcfs", "priority"}),
          flag("scheduler_reserve_full_isl", &VllmArgs::scheduler_reserve_full_isl),
          flag("enable_prefix_caching", &VllmArgs::enable_prefix_caching),
          watermark(),
          count("stream_interval", &VllmArgs::stream_interval)};
}

/// SchedulerConfig refuses both.
void check(const EngineSettings& settings, const EngineSite& site) {
  const VllmArgs& args = of(settings.args);
  if (!args.enable_chunked_prefill && args.max_num_batched_tokens < args.max_model_len) {
    site.args.fail(
        fmt::format("without chunked prefill max_num_batched_tokens ({}) must be at least max_model_len ({})",
                    args.max_num_batched_tokens, args.max_model_len));
  }
  if (args.max_num_batched_tokens < args.max_num_seqs) {
    site.args.fail(fmt::format("max_num_batched_tokens ({}) must be at least max_num_seqs ({})",
                               args.max_num_batched_tokens, args.max_num_seqs));
  }
}

}  // namespace

EngineKind vllm_kind() {
  EngineKind kind;
  kind.name = "vllm";
  kind.blank = [] { return EngineArgs(VllmArgs{}); };
  kind.arguments = arguments();
  kind.heavy = {{"speculative_config"},
                {"num_speculative_tokens"},
                {"kv_transfer_config"},
                {"kv_connector"},
                {"kv_offloading_size"},
                {"cpu_offload_gb"},
                {"enable_lora"},
                {"swap_space"},
                {"decode_context_parallel_size", "1"},
                {"data_parallel_size", "1"},
                {"kv_cache_memory_bytes"}};
  kind.aliases = {{"policy", "scheduling_policy"}};
  kind.tensor_parallel = "tensor_parallel_size";
  kind.pipeline_parallel = "pipeline_parallel_size";
  kind.tasks = {Task::kGenerate, Task::kEmbed};
  kind.context_argument = "max_model_len";
  kind.context = [](EngineArgs& args) -> std::int64_t& { return of(args).max_model_len; };
  kind.step_tokens = [](const EngineArgs& args) { return of(args).max_num_batched_tokens; };
  kind.fidelity = [](EngineArgs& args) { return &of(args).fidelity; };
  kind.kv = vllm_kv_rule<VllmArgs>();
  kind.check = check;
  kind.native = {{"vllm:num_preemptions", &ReplicaUse::preemptions},
                 {"vllm:request_success", &ReplicaUse::completed},
                 {"vllm:prefix_cache_queries", &ReplicaUse::prefix_query_tokens},
                 {"vllm:prefix_cache_hits", &ReplicaUse::prefix_hit_tokens}};
  kind.signals = {"vllm:num_requests_waiting", "vllm:num_requests_running", "vllm:kv_cache_usage_perc"};
  kind.left_out = {"no async scheduling: finishes and arrivals are seen one step earlier",
                   "no speculative decoding",
                   "no encoder inputs",
                   "no LoRA",
                   "decode batches are not padded to CUDA graphs",
                   "host overhead is that of the curve"};
  return kind;
}

}  // namespace poolcast
