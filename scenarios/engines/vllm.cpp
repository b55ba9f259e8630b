// SPDX-License-Identifier: Apache-2.0
// vLLM V1. Names: vllm/config/{scheduler,cache}.py, vllm/engine/arg_utils.py; telemetry: vllm/v1/metrics/loggers.py.
#include <algorithm>

#include "scenarios/engines/engine_kind.h"
#include "scenarios/engines/vllm_kv_rule.h"
#include "scenarios/engines/vllm_speculation.h"

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

EngineArgument enforce_eager() {
  return {"enforce_eager", [](EngineSettings& s, const YamlNode& v) { s.guides["enforce_eager"] = {v.boolean()}; },
          [](const EngineSettings& s) {
            const auto found = s.guides.find("enforce_eager");
            return std::string(argument::flag_text(found != s.guides.end() && found->second.front() != 0));
          }};
}

/// `auto` is on: the log of a 0.19.0 run that did not state it resolved it so.
EngineArgument async_scheduling() {
  EngineArgument argument = argument::flag("async_scheduling", &VllmArgs::async_scheduling);
  argument.set = [](EngineSettings& s, const YamlNode& v) {
    const std::size_t which = v.choice({"false", "true", "auto"});
    const bool automatic = which == 2;
    of(s.args).async_scheduling = which > 0;
    s.guides.erase("async_scheduling");
    if (automatic) s.guides["async_scheduling"] = {};
  };
  return argument;
}

/// GiB, all ranks of a replica together.
EngineArgument kv_offloading_size() {
  EngineArgument argument = argument::number("kv_offloading_size", &VllmArgs::kv_offloading_size, 0, 1e6);
  const auto size = argument.set;
  argument.set = [size](EngineSettings& s, const YamlNode& v) {
    if (v.is_word("none")) {
      of(s.args).kv_offloading_size = 0;
    } else {
      size(s, v);
    }
  };
  argument.text = [](const EngineSettings& s) {
    const double gib = of(s.args).kv_offloading_size;
    return gib > 0 ? argument::double_text(gib) : std::string("none");
  };
  return argument;
}

EngineArgument kv_offloading_backend() {
  return {"kv_offloading_backend",
          [](EngineSettings&, const YamlNode& v) {
            if (v.choice({"native", "lmcache"}) > 0) v.fail("lmcache is known but not modelled yet: leave it out");
          },
          [](const EngineSettings&) { return std::string("native"); }};
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
          choice("preemption_victim", &VllmArgs::preemption_victim, {"released", "lcf"}),
          flag("scheduler_reserve_full_isl", &VllmArgs::scheduler_reserve_full_isl),
          flag("enable_prefix_caching", &VllmArgs::enable_prefix_caching),
          watermark(),
          count("stream_interval", &VllmArgs::stream_interval),
          guide_list("cudagraph_capture_sizes"),
          guide("max_cudagraph_capture_size", 0),
          enforce_eager(),
          guide_choice("dp_balancer", {"vllm-dplb", "vllm-dplb-queue"}),
          async_scheduling(),
          speculative_config(),
          kv_offloading_size(),
          kv_offloading_backend()};
}

std::int64_t guide_of(const EngineSettings& settings, std::string_view name, std::int64_t fallback) {
  const auto found = settings.guides.find(name);
  return found == settings.guides.end() ? fallback : found->second.front();
}

/// 1, 2, 4, then steps of 8 below 256 and of 16 from there on, unless the sizes are stated.
std::vector<std::int64_t> capture_sizes(const EngineSettings& settings) {
  if (guide_of(settings, "enforce_eager", 0) == 1) return {};
  if (settings.states("cudagraph_capture_sizes")) return settings.guides.find("cudagraph_capture_sizes")->second;
  const std::int64_t most = guide_of(settings, "max_cudagraph_capture_size", 0);
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 1; n <= most; n += n < 8 ? n : n < 256 ? 8 : 16) sizes.push_back(n);
  return sizes;
}

/// The engine turns asynchronous scheduling off by itself where something speaks against it; here speculation does.
void complete_async(EngineSettings& settings, const EngineSite& site) {
  VllmArgs& args = of(settings.args);
  if (!args.speculation.on() || !args.async_scheduling) return;
  if (settings.states("async_scheduling") && settings.guides.count("async_scheduling") == 0) {
    site.args.fail("async_scheduling together with speculative_config is not modelled yet: turn it off");
  }
  args.async_scheduling = false;
}

/// A default gives way to what is stated (arg_utils.py): without chunks a step takes the longest prompt, and no more
/// requests run than a step has tokens.
void complete_limits(EngineSettings& settings) {
  VllmArgs& args = of(settings.args);
  if (!settings.states("max_num_batched_tokens") && !args.enable_chunked_prefill) {
    args.max_num_batched_tokens = std::max(args.max_num_batched_tokens, args.max_model_len);
  }
  if (!settings.states("max_num_seqs")) args.max_num_seqs = std::min(args.max_num_seqs, args.max_num_batched_tokens);
}

void complete(EngineSettings& settings, const EngineSite& site) {
  complete_async(settings, site);
  complete_limits(settings);
  if (!settings.states("cudagraph_capture_sizes")) return;
  const std::int64_t last = settings.guides["cudagraph_capture_sizes"].back();
  const std::int64_t most = guide_of(settings, "max_cudagraph_capture_size", last);
  if (settings.states("max_cudagraph_capture_size") && most != last) {
    site.args.fail(
        fmt::format("max_cudagraph_capture_size ({}) must be the last of cudagraph_capture_sizes ({})", most, last));
  }
  settings.guides["max_cudagraph_capture_size"] = {last};
}

void check_layout_of(const EngineSite& site) {
  const Layout& layout = site.layout;
  const std::int64_t all = layout.tp * layout.dp;
  if (!site.experts) return;
  if (layout.ep != 1 && layout.ep != all) {
    site.args.fail(fmt::format("vLLM has ep 1, or ep {} (tp * dp) with enable_expert_parallel; the layout has ep {}",
                               all, layout.ep));
  }
  if (layout.dp > 1 && layout.ep == 1) {
    site.args.fail(
        fmt::format("with dp above 1 vLLM cuts each expert over all ranks unless enable_expert_parallel is set; that "
                    "is not modelled "
                    "yet: the layout needs ep {} (tp * dp)",
                    all));
  }
}

/// SchedulerConfig refuses both.
void check(const EngineSettings& settings, const EngineSite& site) {
  const VllmArgs& args = of(settings.args);
  check_layout_of(site);
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
  kind.heavy = {{"num_speculative_tokens"},
                {"kv_transfer_config"},
                {"kv_connector"},
                {"cpu_offload_gb"},
                {"enable_lora"},
                {"swap_space"},
                {"decode_context_parallel_size", "1"},
                {"kv_cache_memory_bytes"}};
  kind.aliases = {{"policy", "scheduling_policy"}};
  kind.tensor_parallel = "tensor_parallel_size";
  kind.pipeline_parallel = "pipeline_parallel_size";
  kind.data_parallel = "data_parallel_size";
  kind.expert_parallel_flag = "enable_expert_parallel";
  kind.tasks = {Task::kGenerate, Task::kEmbed};
  kind.context_argument = "max_model_len";
  kind.context = [](EngineArgs& args) -> std::int64_t& { return of(args).max_model_len; };
  kind.step_tokens = [](const EngineArgs& args) { return of(args).max_num_batched_tokens; };
  kind.fidelity = [](EngineArgs& args) { return &of(args).fidelity; };
  kind.kv = vllm_kv_rule<VllmArgs>();
  kind.complete = complete;
  kind.check = check;
  // Up to pp batches are in flight, each with its own budget; max_num_seqs counts the requests of all of them.
  kind.widen = [](EngineArgs& args, std::int64_t stages) { of(args).max_num_batched_tokens *= stages; };
  kind.balancer = [](const EngineSettings& settings) -> std::string_view {
    return guide_of(settings, "dp_balancer", 0) == 0 ? "vllm-dplb" : "vllm-dplb-queue";
  };
  kind.capture_sizes = capture_sizes;
  kind.telemetry.native = {{"vllm:num_preemptions", &ReplicaUse::preemptions},
                           {"vllm:request_success", &ReplicaUse::completed},
                           {"vllm:prefix_cache_queries", &ReplicaUse::prefix_query_tokens},
                           {"vllm:prefix_cache_hits", &ReplicaUse::prefix_hit_tokens},
                           {"vllm:external_prefix_cache_hits", &ReplicaUse::host_hit_tokens},
                           {"vllm:spec_decode_num_draft_tokens", &ReplicaUse::drafted_tokens},
                           {"vllm:spec_decode_num_accepted_tokens", &ReplicaUse::accepted_draft_tokens}};
  kind.telemetry.signals = {"vllm:num_requests_waiting", "vllm:num_requests_running", "vllm:kv_cache_usage_perc"};
  kind.left_out = {"a running request that is given up takes no part in the step that is planned ahead",
                   "speculation: every request has all its drafts in every step, accepted by stated rates",
                   "KV on the host: stores take no time, the host forgets by last use, a load starts only where the "
                   "whole prompt fits",
                   "no encoder inputs",
                   "no LoRA",
                   "host overhead is that of the curve"};
  return kind;
}

}  // namespace poolcast
