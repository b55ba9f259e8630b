// SPDX-License-Identifier: Apache-2.0
#include "models/transformer.h"

#include <algorithm>

#include "models/shard.h"

namespace poolcast {
namespace {

double d(std::int64_t count) { return static_cast<double>(count); }

/// Weights that one device of a stage holds, by how they are stored.
struct Held {
  double linear = 0;  // at the precision of the weights
  double other = 0;   // embeddings, head, router, norms: bf16
};

/// Embedding and head: one table where they are tied and on one stage.
double tables(const TransformerShape& shape, const Layout& layout, std::int64_t stage) {
  const double both = (stage == 0 ? 1 : 0) + (stage == layout.pp - 1 ? 1 : 0);
  return shape.tied_embeddings ? std::min(both, 1.0) : both;
}

Held held(const TransformerShape& model, const Layout& layout, std::int64_t stage) {
  const TransformerShape shape = stage_of(model, layout.pp, stage);
  const std::int64_t tp = layout.tp;
  Held sum;
  sum.linear = d(shape.layers) * parameters(attention_matrices(shape, tp)) +
               d(shape.dense_layers()) * parameters(mlp_matrices(shape, shape.intermediate, tp));
  sum.other = d(shape.layers) * norm_parameters(shape) + (stage == layout.pp - 1 ? d(shape.hidden) : 0) +
              tables(model, layout, stage) * embedding_parameters(shape) / d(tp);
  if (shape.moe) {
    const double routed = d(shape.moe->experts / layout.ep) * parameters(expert_matrices(shape, layout.expert_tp()));
    const double shared = d(shape.moe->shared_experts) * parameters(expert_matrices(shape, tp));
    sum.linear += d(shape.moe_layers()) * (routed + shared);
    sum.other += d(shape.moe_layers()) * d(shape.hidden) * d(shape.moe->experts);
  }
  return sum;
}

/// Experts of one layer that one token does not use.
double idle_experts(const TransformerShape& shape) {
  return shape.moe ? d(shape.moe->experts - shape.moe->experts_per_token) : 0;
}

double kv_elements_per_layer(const TransformerShape& shape, std::int64_t tp) {
  if (shape.mla) return d(shape.mla->kv_lora_rank + shape.mla->qk_rope_head_dim);
  return 2 * d(kv_heads_per_device(shape, tp)) * d(shape.head_dim);
}

}  // namespace

TransformerShape stage_of(const TransformerShape& shape, std::int64_t pp, std::int64_t stage) {
  if (pp == 1) return shape;
  std::int64_t begin = 0;
  for (std::int64_t before = 0; before < stage; ++before) begin += stage_layers(shape.layers, pp, before);
  TransformerShape part = shape;
  part.layers = stage_layers(shape.layers, pp, stage);
  if (part.moe) {
    const std::int64_t dense = shape.moe->first_dense_layers - begin;
    part.moe->first_dense_layers = std::clamp<std::int64_t>(dense, 0, part.layers);
  }
  return part;
}

double attention_parameters(const TransformerShape& shape) {
  return parameters(attention_matrices(shape, 1)) + norm_parameters(shape);
}

double dense_mlp_parameters(const TransformerShape& shape) {
  return parameters(mlp_matrices(shape, shape.intermediate, 1));
}

double expert_parameters(const TransformerShape& shape) { return parameters(expert_matrices(shape, 1)); }

double embedding_parameters(const TransformerShape& shape) { return d(shape.vocab) * d(shape.hidden); }

double parameters(const TransformerShape& shape) {
  const Held all = held(shape, Layout{}, 0);
  return all.linear + all.other;
}

double active_parameters(const TransformerShape& shape) {
  return parameters(shape) - d(shape.moe_layers()) * idle_experts(shape) * expert_parameters(shape);
}

Bytes weight_bytes(const TransformerShape& shape, Precision weights) {
  return weight_bytes_per_device(shape, weights, Layout{});
}

Bytes weight_bytes_per_device(const TransformerShape& shape, Precision weights, const Layout& layout,
                              std::int64_t stage) {
  const Held part = held(shape, layout, stage);
  return Bytes(part.linear * bytes_per_element(weights) + part.other * bytes_per_element(Precision::kBf16));
}

Bytes kv_bytes_per_token(const TransformerShape& shape, Precision kv) {
  return kv_bytes_per_token_per_device(shape, kv, Layout{});
}

Bytes kv_bytes_per_token_per_device(const TransformerShape& shape, Precision kv, const Layout& layout,
                                    std::int64_t stage) {
  const double layers = d(stage_layers(shape.layers, layout.pp, stage));
  return Bytes(layers * kv_elements_per_layer(shape, layout.tp) * bytes_per_element(kv));
}

Flops gemm_flops_per_token(const TransformerShape& shape, std::int64_t layer) {
  double active = parameters(attention_matrices(shape, 1));
  if (shape.moe && layer >= shape.moe->first_dense_layers) {
    const double used = d(shape.moe->experts_per_token + shape.moe->shared_experts);
    active += used * expert_parameters(shape) + d(shape.hidden) * d(shape.moe->experts);
  } else {
    active += dense_mlp_parameters(shape);
  }
  return Flops(2 * active);
}

Flops prefill_attention_flops(const TransformerShape& shape) {
  if (!shape.mla) return Flops(4 * d(shape.heads) * d(shape.head_dim));
  const MlaShape& mla = *shape.mla;
  return Flops(2 * d(shape.heads) * d(mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim));
}

Flops decode_attention_flops(const TransformerShape& shape) {
  if (!shape.mla) return Flops(4 * d(shape.heads) * d(shape.head_dim));
  const MlaShape& mla = *shape.mla;
  return Flops(2 * d(shape.heads) * d(2 * mla.kv_lora_rank + mla.qk_rope_head_dim));
}

}  // namespace poolcast
