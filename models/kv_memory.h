// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "models/layout.h"
#include "models/precision.h"
#include "models/transformer.h"
#include "models/units.h"

namespace poolcast {

struct KvMemoryOptions {
  double gpu_memory_utilization = 0.9;  ///< share of the device's memory that the engine may use
  Tokens block_size = 16;               ///< tokens per KV block
  Precision weights = Precision::kBf16;
  Precision kv = Precision::kBf16;
  Bytes activation_reserve{0};  ///< peak activations and runtime; see `activation_reserve`
};

/// The KV cache of one replica, or of one of its data-parallel ranks. Counts are the same on each of its devices: the
/// stage of a pipeline that has the least room decides, and the bytes are those of its devices.
struct KvMemory {
  std::int64_t num_gpu_blocks = 0;  ///< as vLLM counts: block 0, the null block, included, so one fewer can be used
  Bytes budget;                     ///< utilization * device memory
  Bytes weights;                    ///< per device
  Bytes reserve;
  Bytes kv_bytes_per_token;  ///< per device
  std::string shortage;      ///< why not even two blocks fit; empty when they do

  bool fits() const { return shortage.empty(); }
  /// Tokens that can be held at once.
  Tokens capacity(Tokens block_size) const { return num_gpu_blocks > 0 ? (num_gpu_blocks - 1) * block_size : 0; }
};

/// num_gpu_blocks = floor((utilization * memory - weights - reserve) / (block_size * KV bytes per token)), all per
/// device: vLLM's arithmetic with its measured peak replaced by `activation_reserve`. Prefer the count of an engine's
/// log. When nothing fits the result says so (`shortage`) and holds no blocks.
KvMemory kv_memory(const TransformerShape& shape, const Layout& layout, Bytes device_memory,
                   const KvMemoryOptions& options);

/// An estimate of what vLLM's profiling run finds beside the weights: activations of the widest layer for a full
/// step, logits and their fp32 copy for every sequence, and 768 MiB for context, graphs and allocator. The constant is
/// set by one log: vLLM 0.19, Llama-3.1-8B on an RTX 4090 (2,588 blocks of 16).
Bytes activation_reserve(const TransformerShape& shape, const Layout& layout, Tokens max_num_batched_tokens,
                         std::int64_t max_num_seqs);

}  // namespace poolcast
