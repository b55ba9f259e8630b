// SPDX-License-Identifier: Apache-2.0
#include "models/roofline_terms.h"

#include <algorithm>

#include "models/error.h"
#include "models/expert_skew.h"

namespace poolcast {
namespace {

constexpr double kActivationBytes = 2;  // activations stay bf16 whatever the weights are
constexpr double kLogitPassBytes = 8;   // the sampler reads the logits twice in fp32

double d(std::int64_t count) { return static_cast<double>(count); }

/// base^exponent by squaring: only IEEE products, so that every machine agrees (a library's pow may not).
double power(double base, Tokens exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

void check_share(double value, const char* what) {
  if (!(value > 0) || value > 1) throw ModelError(std::string(what) + " must be above 0 and at most 1");
}

void check_options(const RooflineOptions& options) {
  check_share(options.compute_efficiency, "compute_efficiency");
  check_share(options.attention_efficiency, "attention_efficiency");
  check_share(options.memory_efficiency, "memory_efficiency");
  check_share(options.link_efficiency, "link_efficiency");
  if (!(options.link_latency.value >= 0) || !(options.host_base.value >= 0) || !(options.host_per_request.value >= 0)) {
    throw ModelError("latencies of a roofline must not be negative");
  }
  if (options.table_tokens < 0) throw ModelError("table_tokens must not be negative");
}

/// The imbalance that the options ask for, checked.
double imbalance_of(const TransformerShape& shape, const Layout& layout, const RooflineOptions& options) {
  const char* const option = options.expert_skew ? "expert_skew" : "expert_imbalance";
  if (!options.expert_skew && options.expert_imbalance == 1) return 1;
  if (shape.moe_layers() == 0)
    throw ModelError(std::string(option) + " needs experts, and " + shape.name + " has none");
  if (layout.ep == 1) throw ModelError(std::string(option) + " needs ep above 1: every device holds all experts");
  if (options.expert_skew) return expert_imbalance(*shape.moe, layout.ep, *options.expert_skew);
  const double most = std::min(d(layout.ep), d(shape.moe->experts) / d(shape.moe->experts_per_token));
  if (options.expert_imbalance >= 1 && options.expert_imbalance <= most) return options.expert_imbalance;
  throw ModelError("expert_imbalance must be at least 1, and at most ep (" + std::to_string(layout.ep) +
                   ") and experts / experts_per_token (" + std::to_string(shape.moe->experts) + " / " +
                   std::to_string(shape.moe->experts_per_token) + ")");
}

/// Other devices, of `ep` together, that hold one of a token's experts.
double remote_devices(const MoeShape& moe, std::int64_t ep) {
  const std::int64_t elsewhere = moe.experts - moe.experts / ep;
  double none = 1;  // the probability that a device holds none of them
  for (std::int64_t i = 0; i < moe.experts_per_token; ++i) {
    none *= d(std::max<std::int64_t>(0, elsewhere - i)) / d(moe.experts - i);
  }
  return d(ep - 1) * (1 - none);
}

/// Values per token and layer that attention reads (queries) and writes (outputs) on one device.
double attention_io(const TransformerShape& shape, double tp, bool latent) {
  const double heads = d(shape.heads) / tp;
  if (!shape.mla) return 2 * heads * d(shape.head_dim);
  const MlaShape& mla = *shape.mla;
  if (latent) return heads * d(2 * mla.kv_lora_rank + mla.qk_rope_head_dim);
  return heads * d(mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim);
}

/// Operations that expand the latent of one token to its heads.
double expand_flops(const TransformerShape& shape, double tp) {
  if (!shape.mla) return 0;
  const MlaShape& mla = *shape.mla;
  return 2 * d(mla.kv_lora_rank) * d(shape.heads) / tp * d(mla.qk_nope_head_dim + mla.v_head_dim);
}

}  // namespace

RooflineTerms::RooflineTerms(const Accelerator& accelerator, const TransformerShape& shape, const Layout& layout,
                             const RooflineOptions& options)
    : shape_(shape), tp_(d(layout.tp)), weight_bytes_(bytes_per_element(options.weights)) {
  check_layout(shape, layout);
  check_options(options);
  const double bf16_peak = accelerator.require_peak(Precision::kBf16).value;
  linear_rate_ = accelerator.require_peak(options.compute.value_or(options.weights)).value * options.compute_efficiency;
  bf16_rate_ = bf16_peak * options.compute_efficiency;
  memory_rate_ = accelerator.require_memory_bandwidth().value * options.memory_efficiency;
  if (layout.tp > 1 || layout.experts_across_ranks())
    link_rate_ = accelerator.require_link_bandwidth().value * options.link_efficiency;
  link_latency_ = options.link_latency.value;
  host_base_ = options.host_base.value;
  host_per_request_ = options.host_per_request.value;

  attention_matrices_ = attention_matrices(shape, layout.tp);
  mlp_matrices_ = mlp_matrices(shape, shape.intermediate, layout.tp);
  expert_matrices_ = expert_matrices(shape, layout.expert_tp());
  if (shape.moe && shape.moe->shared_experts > 0) {
    shared_matrices_ = mlp_matrices(shape, shape.moe->shared_experts * shape.moe->intermediate, layout.tp);
  }

  ep_ = d(layout.ep);
  imbalance_ = imbalance_of(shape, layout, options);
  if (layout.experts_across_ranks()) {
    ranks_ = d(layout.dp);
    copies_ = std::min(imbalance_ * remote_devices(*shape.moe, layout.ep), ep_ - 1);
  }

  const double layers = d(shape.layers);
  const double attention_rate = bf16_peak * options.attention_efficiency;
  const double kv = kv_bytes_per_token_per_device(shape, options.kv, layout).value / memory_rate_;
  attention_.prefill_pair_s = layers * prefill_attention_flops(shape).value / tp_ / attention_rate;
  attention_.prefill_expand_s = layers * expand_flops(shape, tp_) / bf16_rate_;
  attention_.prefill_kv_s = kv;
  attention_.prefill_io_s = layers * attention_io(shape, tp_, false) * kActivationBytes / memory_rate_;
  attention_.decode_pair_s = layers * decode_attention_flops(shape).value / tp_ / attention_rate;
  attention_.decode_kv_s = kv;
  attention_.decode_io_s = layers * attention_io(shape, tp_, true) * kActivationBytes / memory_rate_;
}

double RooflineTerms::product(double tokens, const Matrix& matrix, double weight_bytes, double rate) const {
  const double compute = 2 * tokens * matrix.parameters() / rate;
  const double bytes = matrix.parameters() * weight_bytes + tokens * (matrix.in + matrix.out) * kActivationBytes;
  return std::max(compute, bytes / memory_rate_);
}

double RooflineTerms::linear(Tokens count) const {
  const double tokens = d(count);
  double attention = 0, mlp = 0, shared = 0;
  for (const Matrix& matrix : attention_matrices_) attention += product(tokens, matrix, weight_bytes_, linear_rate_);
  for (const Matrix& matrix : mlp_matrices_) mlp += product(tokens, matrix, weight_bytes_, linear_rate_);
  for (const Matrix& matrix : shared_matrices_) shared += product(tokens, matrix, weight_bytes_, linear_rate_);
  if (shape_.moe) {
    shared += product(tokens, {d(shape_.hidden), d(shape_.moe->experts)}, kActivationBytes, bf16_rate_);
  }
  // Two norms a layer, each reading and writing the residual and the layer's output.
  const double norms = 8 * d(shape_.hidden) * tokens * kActivationBytes / memory_rate_;
  return d(shape_.layers) * (attention + norms) + d(shape_.dense_layers()) * mlp + d(shape_.moe_layers()) * shared;
}

double RooflineTerms::experts(Tokens tokens) const {
  if (!shape_.moe || tokens <= 0) return 0;
  const double all = d(shape_.moe->experts);
  const double used = d(shape_.moe->experts_per_token);
  const Tokens sent = tokens * static_cast<Tokens>(ranks_);
  const double chosen = std::min(1.0, imbalance_ * used / all);
  const double touched = all / ep_ * (1 - power(1 - chosen, sent));
  const double pairs = d(sent) * used / ep_ * imbalance_;  // (token, expert)
  double layer = 0;
  for (const Matrix& matrix : expert_matrices_) {
    const double compute = 2 * pairs * matrix.parameters() / linear_rate_;
    const double bytes =
        touched * matrix.parameters() * weight_bytes_ + pairs * (matrix.in + matrix.out) * kActivationBytes;
    layer += std::max(compute, bytes / memory_rate_);
  }
  return d(shape_.moe_layers()) * layer;
}

double RooflineTerms::all_reduce(Tokens tokens) const {
  if (tp_ <= 1) return 0;
  const double bytes = d(tokens) * d(shape_.hidden) * kActivationBytes;
  const double one = 2 * (tp_ - 1) / tp_ * bytes / link_rate_ + 2 * (tp_ - 1) * link_latency_;
  const double around_experts = ranks_ > 1 ? d(shape_.moe_layers()) : 0;
  return (2 * d(shape_.layers) - around_experts) * one;
}

double RooflineTerms::exchange(Tokens tokens) const {
  if (ranks_ <= 1 || tokens <= 0) return 0;
  const double bytes = d(tokens) / tp_ * copies_ * d(shape_.hidden) * kActivationBytes;
  return 2 * d(shape_.moe_layers()) * (bytes / link_rate_ + (ep_ - 1) * link_latency_);
}

double RooflineTerms::head(std::int64_t sampled) const {
  if (sampled <= 0 || shape_.vocab == 0) return 0;  // a stage of a pipeline before the last has no head
  const double count = d(sampled);
  const double vocab = d(shape_.vocab);
  double seconds = product(count, {d(shape_.hidden), vocab / tp_}, kActivationBytes, bf16_rate_);
  seconds += count * vocab * kLogitPassBytes / memory_rate_;
  if (tp_ > 1) {
    seconds += (tp_ - 1) / tp_ * count * vocab * kActivationBytes / link_rate_ + (tp_ - 1) * link_latency_;
  }
  return seconds;
}

}  // namespace poolcast
