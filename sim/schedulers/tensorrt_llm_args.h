// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast {

/// Arguments of TensorRT-LLM's PyTorch flow, by its own names (tensorrt_llm/llmapi/llm_args.py). A scenario gets its
/// defaults from scenarios/catalog/engines.yaml.
struct TensorrtLlmArgs {
  enum class CapacityPolicy { kGuaranteedNoEvict, kMaxUtilization, kStaticBatch };
  enum class ChunkingPolicy { kFirstComeFirstServed, kEqualProgress };
  enum class WaitingQueuePolicy { kFcfs, kPriority };

  std::int64_t max_batch_size = 2048;
  std::int64_t max_num_tokens = 8192;
  std::int64_t max_seq_len = 8192;     ///< tokens of a sequence, prompt and output together
  std::int64_t tokens_per_block = 32;  ///< tokens per KV block
  std::int64_t num_blocks = 0;         ///< KV blocks that can be used
  bool enable_chunked_prefill = false;
  std::int64_t chunk_unit_size = 0;  ///< of chunks that do not end a prompt; 0 = tokens_per_block, of which a multiple
  bool enable_block_reuse = true;
  bool enable_partial_reuse = true;
  bool enable_prefix_aware_scheduling = true;
  CapacityPolicy capacity_scheduler_policy = CapacityPolicy::kGuaranteedNoEvict;
  ChunkingPolicy context_chunking_policy = ChunkingPolicy::kFirstComeFirstServed;
  WaitingQueuePolicy waiting_queue_policy = WaitingQueuePolicy::kFcfs;
  bool disable_overlap_scheduler = false;
  std::int64_t batch_wait_timeout_iters = 0;  ///< steps for which prompts may be held back; 0 = never
  double batch_wait_max_tokens_ratio = 0.0;   ///< … while the step would hold less than this share of max_num_tokens

  bool operator==(const TensorrtLlmArgs&) const = default;
};

}  // namespace poolcast
