// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#include "scenarios/engines/engine_kind.h"

namespace poolcast {

/// How vLLM sizes its KV cache, on whatever device. `Args` has its block_size and num_gpu_blocks.
template <class Args>
KvRule vllm_kv_rule() {
  KvRule rule;
  rule.share = KvRule::Share::kOfDevice;
  rule.share_argument = "gpu_memory_utilization";
  rule.stated_argument = "num_gpu_blocks_override";
  rule.block_size = [](const EngineArgs& args) { return std::get<Args>(args).block_size; };
  rule.set_blocks = [](EngineArgs& args, std::int64_t blocks) { std::get<Args>(args).num_gpu_blocks = blocks; };
  rule.set_stated = rule.set_blocks;
  // Block 0 is the null block.
  rule.tokens = [](const EngineArgs& args) {
    return (std::get<Args>(args).num_gpu_blocks - 1) * std::get<Args>(args).block_size;
  };
  rule.too_small = "vLLM would not start, here requests that cannot fit are rejected";
  return rule;
}

}  // namespace poolcast
