// SPDX-License-Identifier: Apache-2.0
#include "models/shard.h"

#include <algorithm>

namespace poolcast {
namespace {

double d(std::int64_t count) { return static_cast<double>(count); }

std::vector<Matrix> latent_attention_matrices(const TransformerShape& shape, double heads) {
  const MlaShape& mla = *shape.mla;
  const double hidden = d(shape.hidden);
  const double q_out = heads * d(mla.qk_nope_head_dim + mla.qk_rope_head_dim);
  std::vector<Matrix> list;
  if (mla.q_lora_rank > 0) {
    list.push_back({hidden, d(mla.q_lora_rank)});
    list.push_back({d(mla.q_lora_rank), q_out});
  } else {
    list.push_back({hidden, q_out});
  }
  list.push_back({hidden, d(mla.kv_lora_rank + mla.qk_rope_head_dim)});
  list.push_back({d(mla.kv_lora_rank), heads * d(mla.qk_nope_head_dim + mla.v_head_dim)});
  list.push_back({heads * d(mla.v_head_dim), hidden});
  return list;
}

}  // namespace

std::vector<Matrix> attention_matrices(const TransformerShape& shape, std::int64_t tp) {
  const double heads = d(shape.heads) / d(tp);
  if (shape.mla) return latent_attention_matrices(shape, heads);
  const double kv_heads = d(kv_heads_per_device(shape, tp));
  const double head_dim = d(shape.head_dim);
  return {{d(shape.hidden), (heads + 2 * kv_heads) * head_dim}, {heads * head_dim, d(shape.hidden)}};
}

std::vector<Matrix> mlp_matrices(const TransformerShape& shape, std::int64_t intermediate, std::int64_t tp) {
  const double width = d(intermediate) / d(tp);
  return {{d(shape.hidden), d(shape.mlp_matrices - 1) * width}, {width, d(shape.hidden)}};
}

std::vector<Matrix> expert_matrices(const TransformerShape& shape, std::int64_t tp) {
  if (!shape.moe) return {};
  return mlp_matrices(shape, shape.moe->intermediate, tp);
}

double parameters(const std::vector<Matrix>& matrices) {
  double sum = 0;
  for (const Matrix& matrix : matrices) sum += matrix.parameters();
  return sum;
}

double norm_parameters(const TransformerShape& shape) {
  const double latent = shape.mla ? d(shape.mla->q_lora_rank + shape.mla->kv_lora_rank) : 0;
  return 2 * d(shape.hidden) + latent;
}

std::int64_t kv_heads_per_device(const TransformerShape& shape, std::int64_t tp) {
  return std::max<std::int64_t>(1, shape.kv_heads / tp);
}

}  // namespace poolcast
