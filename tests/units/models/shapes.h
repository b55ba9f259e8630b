// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/accelerator.h"
#include "models/roofline.h"
#include "models/transformer.h"

/// Small models and machines whose arithmetic fits into a comment, and a few published models.
namespace poolcast::test {

inline TransformerShape dense_shape(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                                    std::int64_t kv_heads, std::int64_t head_dim, std::int64_t intermediate,
                                    std::int64_t vocab) {
  TransformerShape shape;
  shape.name = name;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.head_dim = head_dim;
  shape.intermediate = intermediate;
  shape.vocab = vocab;
  return shape;
}

/// One layer: qkv 100 -> (10 + 2 * 5) * 10 = 200, o 100 -> 100, gate and up 100 -> 400, down 200 -> 100: 20,000 +
/// 10,000
/// + 40,000 + 20,000 = 90,000 weights in linear layers.
inline TransformerShape tiny() { return dense_shape("tiny", 1, 100, 10, 5, 10, 200, 1000); }

/// The same with 8 experts of 50, 2 of them used: an expert is 100 -> 100 and 50 -> 100, 15,000 weights.
inline TransformerShape tiny_moe() {
  TransformerShape shape = tiny();
  shape.name = "tiny-moe";
  shape.moe = MoeShape{8, 2, 50, 0, 0};
  return shape;
}

/// The same with latent attention: rank 20, keys 8 + 4 rotary, values 6, queries projected directly.
inline TransformerShape tiny_mla() {
  TransformerShape shape = tiny();
  shape.name = "tiny-mla";
  shape.mla = MlaShape{0, 20, 8, 4, 6};
  return shape;
}

inline TransformerShape llama_8b() { return dense_shape("llama-3.1-8b", 32, 4096, 32, 8, 128, 14336, 128256); }
inline TransformerShape llama_70b() { return dense_shape("llama-3.1-70b", 80, 8192, 64, 8, 128, 28672, 128256); }

inline TransformerShape qwen3_30b_a3b() {
  TransformerShape shape = dense_shape("qwen3-30b-a3b", 48, 2048, 32, 4, 128, 6144, 151936);
  shape.moe = MoeShape{128, 8, 768, 0, 0};
  return shape;
}

inline TransformerShape deepseek_v3() {
  TransformerShape shape = dense_shape("deepseek-v3", 61, 7168, 128, 128, 128, 18432, 129280);
  shape.moe = MoeShape{256, 8, 2048, 1, 3};
  shape.mla = MlaShape{1536, 512, 128, 64, 128};
  return shape;
}

/// A machine with the given bf16 rate (FLOP/s), bandwidth and link (B/s).
inline Accelerator machine(double rate, double bandwidth, double link = 1) {
  Accelerator accelerator;
  accelerator.name = "test-machine";
  accelerator.peak[0].value = FlopsPerSecond(rate);
  accelerator.memory_bandwidth.value = BytesPerSecond(bandwidth);
  accelerator.link_bandwidth.value = BytesPerSecond(link);
  return accelerator;
}

/// The datasheet without losses and without a host.
inline RooflineOptions ideal() {
  RooflineOptions options;
  options.compute_efficiency = options.attention_efficiency = options.memory_efficiency = options.link_efficiency = 1;
  options.link_latency = options.host_base = options.host_per_request = Seconds(0);
  options.table_tokens = 64;
  return options;
}

/// The seconds of one term of a step.
inline double term(const StepCurve& curve, const StepShape& shape, const std::string& name) {
  for (const StepTerm& entry : curve.terms(shape)) {
    if (entry.name == name) return entry.seconds.value;
  }
  return -1;
}

inline StepShape decode(std::int64_t requests, Tokens context) {
  StepShape shape;
  shape.tokens = shape.sampled = shape.decode_requests = requests;
  shape.decode_context = context;
  return shape;
}

}  // namespace poolcast::test
