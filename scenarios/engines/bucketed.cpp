// SPDX-License-Identifier: Apache-2.0
// Engines with compiled shapes. vLLM on TPU: tpu-inference, runner/{utils,tpu_runner}.py and vLLM's own names. Neuron:
// NeuronConfig of NxD Inference behind the vLLM plugin. JetStream: core/server_lib.py, engine/token_utils.py;
// telemetry: core/metrics/prometheus.py. The times of a compile are poolcast's own arguments. What a version may state
// is in the catalog.
#include <algorithm>

#include "scenarios/engines/engine_kind.h"
#include "scenarios/engines/vllm_kv_rule.h"
#include "scenarios/units.h"
#include "sim/schedulers/buckets.h"

namespace poolcast {
namespace {

using Flavour = BucketedArgs::Flavour;

BucketedArgs& of(EngineArgs& args) { return std::get<BucketedArgs>(args); }
const BucketedArgs& of(const EngineArgs& args) { return std::get<BucketedArgs>(args); }

std::int64_t guide_of(const EngineSettings& settings, std::string_view name, std::int64_t otherwise) {
  const auto found = settings.guides.find(name);
  return found == settings.guides.end() ? otherwise : found->second.front();
}

/// Without a default: it has a value only where the file states it.
EngineArgument time(std::string name, double BucketedArgs::*member) {
  return {
      name, [=](EngineSettings& s, const YamlNode& v) { of(s.args).*member = read_seconds(v).value; },
      [=](const EngineSettings& s) { return s.states(name) ? to_text(Seconds(of(s.args).*member)) : std::string(); }};
}

EngineArgument flavour() {
  EngineArgument argument = argument::choice("flavour", &BucketedArgs::flavour, {"vllm-tpu", "neuron", "jetstream"});
  argument.of_version = true;
  return argument;
}

std::vector<EngineArgument> arguments() {
  using namespace argument;
  using B = BucketedArgs;
  return {flavour(),
          // vLLM on TPU
          count("max_num_seqs", &B::max_num_seqs, 1, 10'000'000),
          count("max_num_batched_tokens", &B::max_num_batched_tokens), count("max_model_len", &B::max_model_len),
          count("block_size", &B::block_size, 1, 1'000'000), stated_kv("num_gpu_blocks_override", 2),
          argument::memory_share("gpu_memory_utilization"),
          kv_dtype("kv_cache_dtype", {"auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"}),
          count("long_prefill_token_threshold", &B::long_prefill_token_threshold, 0),
          flag("scheduler_reserve_full_isl", &B::scheduler_reserve_full_isl),
          flag("enable_prefix_caching", &B::enable_prefix_caching), guide("MIN_TOKEN_BUCKET", 1, 1'000'000),
          guide("VLLM_TPU_BUCKET_PADDING_GAP", 0, 1'000'000), guide("MIN_NUM_SEQS", 1, 1'000'000),
          guide_list("compilation_sizes"), flag("SKIP_JAX_PRECOMPILE", &B::precompile, true),
          // Neuron
          guide_choice("enable_bucketing", {"false", "true"}), guide("max_context_length", 1),
          counts("context_encoding_buckets", &B::token_buckets),
          counts("token_generation_buckets", &B::context_buckets),
          counts("token_generation_batches", &B::request_buckets), flag("compile_ahead", &B::precompile),
          // JetStream
          count("max_concurrent_decodes", &B::max_num_seqs, 1, 10'000'000),
          count("max_target_length", &B::max_model_len), guide("max_prefill_length", 1),
          counts("prefill_buckets", &B::token_buckets), flag("enable_model_warmup", &B::precompile),
          // of all
          time("compile_time", &B::compile_seconds), time("compile_time_per_token", &B::compile_seconds_per_token),
          flag("compile_cache", &B::compile_cache), time("cached_compile_time", &B::cached_compile_seconds)};
}

KvRule kv_rule() {
  KvRule rule = vllm_kv_rule<BucketedArgs>();
  // The others hold a fixed number of sequences of full length.
  rule.applies = [](const EngineArgs& args) { return of(args).flavour == Flavour::kTpu; };
  return rule;
}

/// tpu-inference, layers/vllm/backends/flash_attn.py: 16 for long models, else by their length.
std::int64_t tpu_page(std::int64_t max_model_len) {
  if (max_model_len > 8192) return 16;
  std::int64_t power = 1;
  while (power < max_model_len) power *= 2;
  return std::clamp<std::int64_t>(power / 16, 16, 256);
}

void complete_tpu(EngineSettings& settings, const EngineSite& site) {
  constexpr std::int64_t kMostBuckets = 10'000;
  BucketedArgs& args = of(settings.args);
  const std::int64_t gap = guide_of(settings, "VLLM_TPU_BUCKET_PADDING_GAP", 0);
  if (gap > 0 && args.max_num_batched_tokens / gap > kMostBuckets) {
    site.args.fail(fmt::format("VLLM_TPU_BUCKET_PADDING_GAP ({}) makes more than {} buckets", gap, kMostBuckets));
  }
  if (!settings.states("block_size")) args.block_size = tpu_page(args.max_model_len);
  // arg_utils.py: no more requests run than a step has tokens.
  if (!settings.states("max_num_seqs")) args.max_num_seqs = std::min(args.max_num_seqs, args.max_num_batched_tokens);
  args.token_buckets = tpu_token_buckets(guide_of(settings, "MIN_TOKEN_BUCKET", 16), args.max_num_batched_tokens, gap);
  if (const auto more = settings.guides.find("compilation_sizes"); more != settings.guides.end()) {
    args.token_buckets.insert(args.token_buckets.end(), more->second.begin(), more->second.end());
    std::sort(args.token_buckets.begin(), args.token_buckets.end());
    args.token_buckets.erase(std::unique(args.token_buckets.begin(), args.token_buckets.end()),
                             args.token_buckets.end());
  }
  args.request_buckets = tpu_request_buckets(guide_of(settings, "MIN_NUM_SEQS", 8), args.max_num_seqs);
}

void complete_neuron(EngineSettings& settings) {
  constexpr std::int64_t kLeast = 128;  // modules/autobucketing.py
  BucketedArgs& args = of(settings.args);
  const bool many = guide_of(settings, "enable_bucketing", 1) != 0;
  const std::int64_t prompt = guide_of(settings, "max_context_length", args.max_model_len);
  const auto buckets = [&](std::int64_t most) {
    return many ? neuron_buckets(std::min(kLeast, most), most) : std::vector<std::int64_t>{most};
  };
  if (args.token_buckets.empty()) args.token_buckets = buckets(prompt);
  if (args.context_buckets.empty()) args.context_buckets = buckets(args.max_model_len);
  if (args.request_buckets.empty()) args.request_buckets = {args.max_num_seqs};
}

void complete_jetstream(EngineSettings& settings) {
  BucketedArgs& args = of(settings.args);
  if (args.token_buckets.empty()) {
    args.token_buckets = jetstream_buckets(guide_of(settings, "max_prefill_length", args.max_model_len));
  }
  args.request_buckets = {args.max_num_seqs};
  args.context_buckets = {args.max_model_len};
}

void complete(EngineSettings& settings, const EngineSite& site) {
  switch (of(settings.args).flavour) {
    case Flavour::kTpu:
      return complete_tpu(settings, site);
    case Flavour::kNeuron:
      return complete_neuron(settings);
    case Flavour::kJetstream:
      return complete_jetstream(settings);
  }
}

void check(const EngineSettings& settings, const EngineSite& site) {
  const BucketedArgs& args = of(settings.args);
  if (!args.precompile && !settings.states("compile_time")) {
    site.args.fail(
        "without a compile ahead the first use of a shape waits for it, and no source tells how long: state "
        "compile_time");
  }
  if (args.compile_cache && !settings.states("cached_compile_time")) {
    site.args.fail(
        "no source tells how long a program from the compile cache takes to load: state cached_compile_time");
  }
  if (args.flavour == Flavour::kTpu) {
    if (args.max_num_batched_tokens >= args.max_num_seqs) return;
    site.args.fail(fmt::format("max_num_batched_tokens ({}) must be at least max_num_seqs ({})",
                               args.max_num_batched_tokens, args.max_num_seqs));
  }
  if (args.token_buckets.back() > args.max_model_len) {
    site.args.fail(fmt::format("the largest prompt bucket ({}) is above the longest sequence ({})",
                               args.token_buckets.back(), args.max_model_len));
  }
  if (args.context_buckets.back() != args.max_model_len) {
    site.args.fail(fmt::format("the largest of token_generation_buckets ({}) must be the longest sequence ({})",
                               args.context_buckets.back(), args.max_model_len));
  }
  if (args.request_buckets.back() != args.max_num_seqs) {
    site.args.fail(fmt::format("the largest of token_generation_batches ({}) must be max_num_seqs ({})",
                               args.request_buckets.back(), args.max_num_seqs));
  }
}

/// It counts slots, not blocks.
const Telemetry& jetstream_telemetry() {
  static const Telemetry telemetry{{}, {"jetstream_prefill_backlog_size", {}, "jetstream_slots_used_percentage"}};
  return telemetry;
}

}  // namespace

EngineKind bucketed_kind() {
  EngineKind kind;
  kind.name = "bucketed";
  kind.blank = [] {
    BucketedArgs args;
    args.compile_seconds = args.cached_compile_seconds = 0;
    return EngineArgs(args);
  };
  kind.arguments = arguments();
  kind.heavy = {{"speculative_config"},       {"num_speculative_tokens"},      {"kv_transfer_config"}, {"enable_lora"},
                {"data_parallel_size", "1"},  {"enable_continue_decode"},      {"is_block_kv_layout"}, {"async_mode"},
                {"ATTN_BUCKETIZED_NUM_REQS"}, {"ATTN_CUSTOM_NUM_REQS_BUCKETS"}};
  kind.aliases = {{"seq_len", "max_model_len"}, {"batch_size", "max_num_seqs"}, {"tp_degree", "tensor_parallel_size"}};
  kind.groups = {"neuron_config", "additional_config", "override_neuron_config"};
  kind.tensor_parallel = "tensor_parallel_size";
  kind.pipeline_parallel = "pipeline_parallel_size";
  kind.tasks = {Task::kGenerate};
  kind.context_argument = "max_model_len";
  kind.context = [](EngineArgs& args) -> std::int64_t& { return of(args).max_model_len; };
  kind.step_tokens = [](const EngineArgs& args) {
    const BucketedArgs& b = of(args);
    return b.token_buckets.empty() ? b.max_num_batched_tokens : std::max(b.token_buckets.back(), b.max_num_seqs);
  };
  kind.kv = kv_rule();
  kind.complete = complete;
  kind.check = check;
  kind.own_telemetry = [](const EngineArgs& args) {
    return of(args).flavour == Flavour::kJetstream ? &jetstream_telemetry() : nullptr;
  };
  kind.telemetry.native = {{"vllm:num_preemptions", &ReplicaUse::preemptions},
                           {"vllm:request_success", &ReplicaUse::completed},
                           {"vllm:prefix_cache_queries", &ReplicaUse::prefix_query_tokens},
                           {"vllm:prefix_cache_hits", &ReplicaUse::prefix_hit_tokens}};
  kind.telemetry.signals = {"vllm:num_requests_waiting", "vllm:num_requests_running", "vllm:kv_cache_usage_perc"};
  kind.left_out = {
      "what is compiled ahead costs nothing after the start",
      "vLLM on TPU: no device loop over several steps, one data-parallel rank",
      "Neuron: no asynchronous mode, no prefix cache, no chunked prefill",
      "JetStream: no chunked prefill, a slot comes back at the end of its step, a prompt above the largest bucket "
      "is refused and not cut",
      "no speculative decoding",
      "no LoRA"};
  return kind;
}

}  // namespace poolcast
