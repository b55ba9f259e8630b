// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/registry.h"

#include <algorithm>
#include <cstdlib>

#include "sim/schedulers/sglang.h"
#include "sim/schedulers/slot_scheduler.h"
#include "sim/schedulers/tensorrt_llm.h"
#include "sim/schedulers/vllm.h"

namespace poolcast {
namespace {

/// The loop of vLLM on TPU is vLLM's own.
VllmArgs vllm_args(const BucketedArgs& args) {
  VllmArgs vllm;
  vllm.max_num_seqs = args.max_num_seqs;
  vllm.max_num_batched_tokens = args.max_num_batched_tokens;
  vllm.max_model_len = args.max_model_len;
  vllm.block_size = args.block_size;
  vllm.num_gpu_blocks = args.num_gpu_blocks;
  vllm.long_prefill_token_threshold = args.long_prefill_token_threshold;
  vllm.scheduler_reserve_full_isl = args.scheduler_reserve_full_isl;
  vllm.enable_prefix_caching = args.enable_prefix_caching;
  return vllm;
}

struct Make {
  RequestTable& table;
  std::size_t groups;
  std::uint64_t seed;

  std::unique_ptr<Scheduler> operator()(const VllmArgs& args) const {
    return std::make_unique<VllmScheduler>(args, table, groups, std::nullopt, seed);
  }
  std::unique_ptr<Scheduler> operator()(const SglangArgs& args) const {
    return std::make_unique<SglangScheduler>(args, table, groups);
  }
  std::unique_ptr<Scheduler> operator()(const BucketedArgs& args) const {
    if (args.flavour != BucketedArgs::Flavour::kTpu) return std::make_unique<SlotScheduler>(args, table, groups);
    return std::make_unique<VllmScheduler>(vllm_args(args), table, groups, Buckets(args));
  }
  std::unique_ptr<Scheduler> operator()(const TensorrtLlmArgs& args) const {
    return std::make_unique<TensorrtLlmScheduler>(args, table, groups);
  }
  template <class Other>
  std::unique_ptr<Scheduler> operator()(const Other&) const {
    std::abort();
  }
};

struct TokenBudget {
  std::int64_t operator()(const VllmArgs& args) const { return args.max_num_batched_tokens; }
  std::int64_t operator()(const SglangArgs& args) const {
    return args.chunked_prefill_size > 0 ? args.chunked_prefill_size : INT64_MAX;
  }
  std::int64_t operator()(const TensorrtLlmArgs& args) const { return args.max_num_tokens; }
  std::int64_t operator()(const BucketedArgs& args) const {
    return args.flavour == BucketedArgs::Flavour::kTpu ? args.max_num_batched_tokens : INT64_MAX;
  }
  template <class Other>
  std::int64_t operator()(const Other&) const {
    return INT64_MAX;
  }
};

struct MaxContext {
  std::int64_t operator()(const VllmArgs& args) const { return args.max_model_len; }
  std::int64_t operator()(const SglangArgs& args) const { return args.context_length - 2; }
  std::int64_t operator()(const TensorrtLlmArgs& args) const { return args.max_seq_len; }
  std::int64_t operator()(const BucketedArgs& args) const { return args.max_model_len; }
  // Engines of one pass: the answer is no part of the sequence, but counts as one token here.
  std::int64_t operator()(const TritonArgs& args) const { return args.max_tokens + 1; }
  std::int64_t operator()(const SessionArgs& args) const { return args.max_tokens + 1; }
};

struct MaxRunning {
  std::int64_t operator()(const VllmArgs& args) const { return args.max_num_seqs; }
  std::int64_t operator()(const SglangArgs& args) const { return args.max_running_requests; }
  std::int64_t operator()(const TensorrtLlmArgs& args) const { return args.max_batch_size; }
  std::int64_t operator()(const BucketedArgs& args) const { return args.max_num_seqs; }
  std::int64_t operator()(const TritonArgs& args) const {
    return args.instance_count * (args.dynamic_batching ? std::max<std::int64_t>(1, args.max_batch_size) : 1);
  }
  std::int64_t operator()(const SessionArgs& args) const { return args.instance_count; }
};

struct StreamInterval {
  std::int64_t operator()(const VllmArgs& args) const { return args.stream_interval; }
  std::int64_t operator()(const SglangArgs& args) const { return args.stream_interval; }
  template <class Other>
  std::int64_t operator()(const Other&) const {
    return 1;
  }
};

struct BlockSize {
  std::int64_t operator()(const VllmArgs& args) const { return args.block_size; }
  std::int64_t operator()(const SglangArgs& args) const { return args.page_size; }
  std::int64_t operator()(const TensorrtLlmArgs& args) const { return args.tokens_per_block; }
  std::int64_t operator()(const BucketedArgs& args) const {
    return args.flavour == BucketedArgs::Flavour::kTpu ? args.block_size : 0;
  }
  std::int64_t operator()(const TritonArgs&) const { return 0; }
  std::int64_t operator()(const SessionArgs&) const { return 0; }
};

struct Refusal {
  std::int64_t prompt;
  std::int64_t output;

  /// The last token is produced but never stored.
  Reason by_blocks(std::int64_t block_size, std::int64_t usable) const {
    return by_blocks(prompt + output - 1, block_size, usable);
  }
  Reason by_blocks(std::int64_t stored, std::int64_t block_size, std::int64_t usable) const {
    return (stored + block_size - 1) / block_size > usable ? Reason::kKvCapacity : Reason::kNone;
  }
  /// Drafts need room up to the last step, which checks them behind all tokens but the last two.
  Reason operator()(const VllmArgs& args) const {
    const SpeculationArgs& speculation = args.speculation;
    const std::int64_t drafts = output > 1 ? speculation.num_speculative_tokens + speculation.lookahead() : 0;
    const std::int64_t stored =
        std::min(prompt + output - 1 + drafts, std::max(args.max_model_len, prompt + output - 1));
    const Reason blocks = by_blocks(stored, args.block_size, args.num_gpu_blocks - 1);
    if (blocks != Reason::kNone) return blocks;
    const bool whole = !args.enable_chunked_prefill && args.long_prefill_token_threshold == 0;
    return whole && prompt > args.max_num_batched_tokens ? Reason::kTokenBudget : Reason::kNone;
  }
  /// SGLang refuses a prompt of nearly the whole length and cuts an output that would not fit; here both are refused.
  Reason operator()(const SglangArgs& args) const {
    if (prompt >= args.context_length - 6) return Reason::kContextLimit;
    const std::int64_t tokens = args.max_total_num_tokens;
    if (prompt >= tokens - 6) return Reason::kKvCapacity;
    const std::int64_t pages = (prompt + args.page_size - 1) / args.page_size;
    const std::int64_t longest = std::min(tokens - 2 - prompt, tokens - (pages + 1) * args.page_size - 1);
    return output > longest ? Reason::kKvCapacity : Reason::kNone;
  }
  Reason operator()(const TensorrtLlmArgs& args) const {
    const std::int64_t unit = args.chunk_unit_size > 0 ? args.chunk_unit_size : args.tokens_per_block;
    const bool chunks = args.enable_chunked_prefill && unit <= args.max_num_tokens;
    if (!chunks && prompt > args.max_num_tokens) return Reason::kTokenBudget;
    if (args.capacity_scheduler_policy != TensorrtLlmArgs::CapacityPolicy::kMaxUtilization) {
      // The policies that reserve whole sequences count the last token too.
      const std::int64_t blocks = (prompt + output + args.tokens_per_block - 1) / args.tokens_per_block;
      if (blocks > args.num_blocks) return Reason::kKvCapacity;
    }
    return by_blocks(args.tokens_per_block, args.num_blocks);
  }
  Reason operator()(const BucketedArgs& args) const {
    if (args.flavour == BucketedArgs::Flavour::kTpu) return by_blocks(args.block_size, args.num_gpu_blocks - 1);
    return !args.token_buckets.empty() && prompt > args.token_buckets.back() ? Reason::kShape : Reason::kNone;
  }
  Reason operator()(const TritonArgs&) const { return Reason::kNone; }
  Reason operator()(const SessionArgs&) const { return Reason::kNone; }
};

}  // namespace

std::unique_ptr<Scheduler> make_scheduler(const EngineArgs& engine, RequestTable& table, std::size_t groups,
                                          std::uint64_t seed) {
  return std::visit(Make{table, groups, seed}, engine);
}

std::int64_t max_context(const EngineArgs& engine) { return std::visit(MaxContext{}, engine); }

std::int64_t max_running(const EngineArgs& engine) { return std::visit(MaxRunning{}, engine); }

std::int64_t token_budget(const EngineArgs& engine) { return std::visit(TokenBudget{}, engine); }

std::int64_t stream_interval(const EngineArgs& engine) { return std::visit(StreamInterval{}, engine); }
std::int64_t block_size(const EngineArgs& engine) { return std::visit(BlockSize{}, engine); }

Reason refusal(const EngineArgs& engine, std::int64_t prompt, std::int64_t output) {
  if (prompt + output > max_context(engine)) return Reason::kContextLimit;
  return std::visit(Refusal{prompt, output}, engine);
}

}  // namespace poolcast
