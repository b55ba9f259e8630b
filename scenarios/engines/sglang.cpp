// SPDX-License-Identifier: Apache-2.0
// SGLang. Names: python/sglang/srt/{server_args,environ}.py, managers/schedule_policy.py; telemetry:
// observability of the scheduler (sglang:…).
#include <algorithm>

#include "scenarios/engines/engine_kind.h"

namespace poolcast {
namespace {

SglangArgs& of(EngineArgs& args) { return std::get<SglangArgs>(args); }
const SglangArgs& of(const EngineArgs& args) { return std::get<SglangArgs>(args); }

EngineArgument random_seed() {
  return {
      "random_seed",
      [](EngineSettings& s, const YamlNode& v) { of(s.args).random_seed = static_cast<std::uint64_t>(v.integer(0)); },
      [](const EngineSettings& s) { return std::to_string(of(s.args).random_seed); }};
}

std::vector<EngineArgument> arguments() {
  using namespace argument;
  using S = SglangArgs;
  return {stated_kv("max_total_tokens", 2),
          argument::memory_share("mem_fraction_static"),
          kv_dtype("kv_cache_dtype", {"auto", "bf16", "bfloat16", "fp8_e5m2", "fp8_e4m3"}),
          count("context_length", &S::context_length, 8),
          count("page_size", &S::page_size, 1, 1'000'000),
          count("max_running_requests", &S::max_running_requests, 1, 10'000'000),
          count("chunked_prefill_size", &S::chunked_prefill_size, -1),
          count("max_prefill_tokens", &S::max_prefill_tokens),
          limit("prefill_max_requests", &S::prefill_max_requests),
          choice("schedule_policy", &S::schedule_policy, {"fcfs", "lpm", "dfs-weight", "lof", "random"}),
          number("schedule_conservativeness", &S::schedule_conservativeness, 0, 1000),
          flag("enable_mixed_chunk", &S::enable_mixed_chunk),
          flag("disable_overlap_schedule", &S::disable_overlap_schedule),
          flag("disable_radix_cache", &S::disable_radix_cache),
          choice("radix_eviction_policy", &S::radix_eviction_policy,
                 {"lru", "lfu", "fifo", "mru", "filo", "slru", "priority"}),
          choice("retraction_policy", &S::retraction_policy, {"length", "priority"}),
          flag("enable_priority_scheduling", &S::enable_priority_scheduling),
          flag("schedule_low_priority_values_first", &S::schedule_low_priority_values_first),
          flag("disable_priority_preemption", &S::disable_priority_preemption),
          count("priority_scheduling_preemption_threshold", &S::priority_scheduling_preemption_threshold, 0),
          number("SGLANG_INIT_NEW_TOKEN_RATIO", &S::init_new_token_ratio, 0, 1),
          number("SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR", &S::min_new_token_ratio_factor, 0, 1),
          count("SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS", &S::new_token_ratio_decay_steps),
          count("SGLANG_RETRACT_DECODE_STEPS", &S::retract_decode_steps, 0),
          count("SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION", &S::clip_max_new_tokens),
          count("IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD", &S::in_batch_prefix_check, 0),
          count("IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD", &S::in_batch_prefix_deprioritize, 0),
          random_seed(),
          count("stream_interval", &S::stream_interval),
          number("declared_output_factor", &S::declared_output_factor, 1, 1e6)};
}

KvRule kv_rule() {
  KvRule rule;
  rule.share = KvRule::Share::kStatic;
  rule.share_argument = "mem_fraction_static";
  rule.stated_argument = "max_total_tokens";
  rule.block_size = [](const EngineArgs& args) { return of(args).page_size; };
  rule.set_blocks = [](EngineArgs& args, std::int64_t pages) {
    of(args).max_total_num_tokens = pages * of(args).page_size;
  };
  rule.set_stated = [](EngineArgs& args, std::int64_t tokens) {
    of(args).max_total_num_tokens = tokens / of(args).page_size * of(args).page_size;
  };
  rule.stated_in_tokens = true;
  rule.tokens = [](const EngineArgs& args) { return of(args).max_total_num_tokens; };
  rule.too_small = "requests that cannot fit are rejected";
  return rule;
}

void check(const EngineSettings& settings, const EngineSite& site) {
  const SglangArgs& args = of(settings.args);
  if (args.chunked_prefill_size > 0 && args.chunked_prefill_size % args.page_size != 0) {
    site.args.fail(fmt::format("chunked_prefill_size ({}) must be a multiple of page_size ({})",
                               args.chunked_prefill_size, args.page_size));
  }
  if (args.enable_priority_scheduling && args.schedule_policy != SglangArgs::Policy::kFcfs &&
      args.schedule_policy != SglangArgs::Policy::kLof) {
    site.args.fail("enable_priority_scheduling needs schedule_policy fcfs or lof");
  }
}

/// kv_cache_configurator.py: by default by the size of the cache, and never above half of it.
void finish(EngineSettings& settings, const EngineSite& site) {
  SglangArgs& args = of(settings.args);
  const std::int64_t tokens = args.max_total_num_tokens;
  if (!settings.states("max_running_requests")) {
    const auto by_size =
        static_cast<std::int64_t>(static_cast<double>(tokens) / static_cast<double>(args.context_length) * 512);
    args.max_running_requests = std::max<std::int64_t>(std::min<std::int64_t>(by_size, 4096), 2048);
  }
  args.max_running_requests = std::min(args.max_running_requests, tokens / 2);
  if (args.max_running_requests < 1) site.args.fail(fmt::format("a KV cache of {} tokens runs nothing", tokens));
}

}  // namespace

EngineKind sglang_kind() {
  EngineKind kind;
  kind.name = "sglang";
  kind.blank = [] { return EngineArgs(SglangArgs{}); };
  kind.arguments = arguments();
  kind.heavy = {{"speculative_algorithm"},
                {"enable_hierarchical_cache"},
                {"disaggregation_mode", "null"},
                {"enable_lora"},
                {"lora_paths"},
                {"enable_dp_attention"},
                {"dp_size", "1"},
                {"num_continuous_decode_steps", "1"},
                {"cpu_offload_gb"},
                {"max_queued_requests"}};
  kind.aliases = {{"max_total_num_tokens", "max_total_tokens"},
                  {"tensor_parallel_size", "tp_size"},
                  {"tp", "tp_size"},
                  {"pipeline_parallel_size", "pp_size"},
                  {"data_parallel_size", "dp_size"}};
  kind.tensor_parallel = "tp_size";
  kind.pipeline_parallel = "pp_size";
  kind.expert_parallel = "ep_size";
  kind.tasks = {Task::kGenerate, Task::kEmbed};
  kind.context_argument = "context_length";
  kind.context = [](EngineArgs& args) -> std::int64_t& { return of(args).context_length; };
  kind.step_tokens = [](const EngineArgs& args) {
    return std::max(of(args).chunked_prefill_size, of(args).max_prefill_tokens);
  };
  kind.fidelity = [](EngineArgs& args) { return &of(args).fidelity; };
  kind.kv = kv_rule();
  kind.check = check;
  kind.finish = finish;
  kind.telemetry.native = {{"sglang:num_requests_total", &ReplicaUse::completed},
                           {"sglang:cached_tokens_total", &ReplicaUse::prefix_hit_tokens},
                           {"sglang:cache_hit_rate", &ReplicaUse::prefix_hit_rate}};
  kind.telemetry.signals = {"sglang:num_queue_reqs", "sglang:num_running_reqs", "sglang:token_usage"};
  kind.left_out = {"overlap loop: a request that comes during a step may still join the next one",
                   "no speculative decoding",
                   "no hierarchical cache",
                   "no data-parallel attention",
                   "no LoRA",
                   "clients declare the output that they get, times declared_output_factor",
                   "decode batches are not padded to CUDA graphs",
                   "host overhead is that of the curve"};
  return kind;
}

}  // namespace poolcast
