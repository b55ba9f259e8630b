// SPDX-License-Identifier: Apache-2.0
#include "models/kv_memory.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace poolcast {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kRuntimeBytes =
    768 * kMiB;                         // context, graphs, allocator: the value that meets the log named in the header
constexpr double kActivationBytes = 2;  // bf16
constexpr double kLogitBytes = 2 + 4;   // bf16 from the head, and the sampler's fp32 copy

/// The null block takes one, so a cache that serves anything needs two.
constexpr double kFewestBlocks = 2;

std::string gib(Bytes bytes) {
  // One decimal by integer arithmetic: no locale, no rounding mode.
  const auto tenths = static_cast<std::int64_t>(std::llround(bytes.value / (1024 * kMiB) * 10));
  return (tenths < 0 ? "-" : "") + std::to_string(std::abs(tenths) / 10) + "." + std::to_string(std::abs(tenths) % 10) +
         " GiB";
}

double widest_mlp(const TransformerShape& shape, double tp) {
  double width = shape.dense_layers() > 0 ? static_cast<double>(shape.intermediate) : 0;
  if (shape.moe_layers() > 0) {
    const double used = static_cast<double>(shape.moe->experts_per_token + shape.moe->shared_experts);
    width = std::max(width, used * static_cast<double>(shape.moe->intermediate));
  }
  return static_cast<double>(shape.mlp_matrices) * width / tp;
}

KvMemory stage_memory(const TransformerShape& shape, const Layout& layout, std::int64_t stage, Bytes device_memory,
                      const KvMemoryOptions& options) {
  KvMemory result;
  result.budget = device_memory * options.gpu_memory_utilization;
  result.weights = weight_bytes_per_device(shape, options.weights, layout, stage);
  result.reserve = options.activation_reserve;
  result.kv_bytes_per_token = kv_bytes_per_token_per_device(shape, options.kv, layout, stage);
  const Bytes left = result.budget - result.weights - result.reserve;
  const Bytes block = result.kv_bytes_per_token * static_cast<double>(options.block_size);
  const double blocks = std::floor(left / block);
  if (blocks >= kFewestBlocks) {
    result.num_gpu_blocks = static_cast<std::int64_t>(blocks);
  } else {
    result.shortage = "no room for a KV cache: " + gib(result.budget) + " usable per device, " + gib(result.weights) +
                      " weights, " + gib(result.reserve) + " activations and runtime";
  }
  return result;
}

/// Where neither fits, more weights leave less room.
bool less_room(const KvMemory& a, const KvMemory& b) {
  if (a.num_gpu_blocks != b.num_gpu_blocks) return a.num_gpu_blocks < b.num_gpu_blocks;
  return !a.fits() && a.weights > b.weights;
}

}  // namespace

KvMemory kv_memory(const TransformerShape& shape, const Layout& layout, Bytes device_memory,
                   const KvMemoryOptions& options) {
  check_layout(shape, layout);
  KvMemory fullest = stage_memory(shape, layout, 0, device_memory, options);
  for (std::int64_t stage = 1; stage < layout.pp; ++stage) {
    KvMemory memory = stage_memory(shape, layout, stage, device_memory, options);
    if (less_room(memory, fullest)) fullest = std::move(memory);
  }
  return fullest;
}

Bytes activation_reserve(const TransformerShape& shape, const Layout& layout, Tokens max_num_batched_tokens,
                         std::int64_t max_num_seqs) {
  const double hidden = static_cast<double>(shape.hidden);
  const double row = 4 * hidden + widest_mlp(shape, static_cast<double>(layout.tp));
  const double activations = static_cast<double>(max_num_batched_tokens) * row * kActivationBytes;
  const double logits = static_cast<double>(max_num_seqs) * static_cast<double>(shape.vocab) * kLogitBytes;
  return Bytes(kRuntimeBytes + activations + logits);
}

}  // namespace poolcast
