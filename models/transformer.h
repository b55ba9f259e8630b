// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/layout.h"
#include "models/precision.h"
#include "models/units.h"

namespace poolcast {

/// Mixture of experts: layers from `first_dense_layers` on have `experts` small MLPs, of which a token uses
/// `experts_per_token`, and `shared_experts` that every token uses.
struct MoeShape {
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t intermediate = 0;  ///< of one expert
  std::int64_t shared_experts = 0;
  std::int64_t first_dense_layers = 0;
};

/// Multi-head latent attention (DeepSeek-V2, 2024, arXiv 2405.04434): the KV cache holds one latent vector and one
/// rotary key per token and layer, shared by all heads.
struct MlaShape {
  std::int64_t q_lora_rank = 0;  ///< 0 = queries are projected directly
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;
};

/// The sizes of a decoder-only transformer, by the names of the hub's config.json in brackets.
struct TransformerShape {
  std::string name;
  std::int64_t layers = 0;         ///< [num_hidden_layers]
  std::int64_t hidden = 0;         ///< [hidden_size]
  std::int64_t heads = 0;          ///< [num_attention_heads]
  std::int64_t kv_heads = 0;       ///< [num_key_value_heads]
  std::int64_t head_dim = 0;       ///< [head_dim], else hidden / heads
  std::int64_t intermediate = 0;   ///< [intermediate_size] of the dense layers
  std::int64_t vocab = 0;          ///< [vocab_size]
  std::int64_t mlp_matrices = 3;   ///< gate, up and down; 2 for an MLP without a gate
  bool tied_embeddings = false;    ///< [tie_word_embeddings]
  std::int64_t context_limit = 0;  ///< [max_position_embeddings]; 0 = not stated
  std::optional<MoeShape> moe;
  std::optional<MlaShape> mla;

  std::int64_t moe_layers() const { return moe ? layers - moe->first_dense_layers : 0; }
  std::int64_t dense_layers() const { return layers - moe_layers(); }
};

/// The layers of one stage of a pipeline (`stage_layers`), as a model of its own.
TransformerShape stage_of(const TransformerShape& shape, std::int64_t pp, std::int64_t stage);

// Parameters, as counts. Biases are left out; they are below 0.02 % of any model here.
double attention_parameters(const TransformerShape& shape);  ///< of one layer, its norms included
double dense_mlp_parameters(const TransformerShape& shape);  ///< of one dense layer
double expert_parameters(const TransformerShape& shape);     ///< of one expert of one layer
double embedding_parameters(const TransformerShape& shape);  ///< vocab * hidden, once
double parameters(const TransformerShape& shape);            ///< all of the model
double active_parameters(const TransformerShape& shape);     ///< those that one token uses, embeddings included

/// Bytes of all weights. Linear layers are held at `weights`; embeddings, head, router and norms stay bf16 when the
/// linear layers are quantised, as published quantised checkpoints have it.
Bytes weight_bytes(const TransformerShape& shape, Precision weights);
/// The share of one device of a pipeline stage: cut by tp, except what every device holds (norms, router, replicated KV
/// heads, the down-projections of MLA); routed experts are cut by ep and `expert_tp`. The first stage holds the
/// embedding, the last one the head.
Bytes weight_bytes_per_device(const TransformerShape& shape, Precision weights, const Layout& layout,
                              std::int64_t stage = 0);

/// KV-cache bytes of one token over all layers: 2 * kv_heads * head_dim elements a layer; MLA: kv_lora_rank +
/// qk_rope_head_dim.
Bytes kv_bytes_per_token(const TransformerShape& shape, Precision kv);
/// On one device of a stage: heads are cut by tp, and held once on each device when tp exceeds them; MLA's latent is
/// not cut.
Bytes kv_bytes_per_token_per_device(const TransformerShape& shape, Precision kv, const Layout& layout,
                                    std::int64_t stage = 0);

/// Operations of the linear layers of one layer for one token (2 per active parameter), router included.
Flops gemm_flops_per_token(const TransformerShape& shape, std::int64_t layer);
/// Operations of attention of one layer for one (query token, context token) pair: scores and weighted sum, 2 + 2 per
/// head and element. MLA differs: prefill expands the latent to heads, decode works on the latent itself.
Flops prefill_attention_flops(const TransformerShape& shape);
Flops decode_attention_flops(const TransformerShape& shape);

}  // namespace poolcast
