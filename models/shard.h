// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/transformer.h"

/// The weight matrices of a transformer as one of `tp` devices holds them: the one list from which parameters, weight
/// bytes and the roofline are all computed.
namespace poolcast {

/// y[out] = x[in] * W for each token. Sizes are those of the shard.
struct Matrix {
  double in = 0;
  double out = 0;

  double parameters() const { return in * out; }
};

/// Projections of the attention of one layer. Queries and the output are cut by heads; keys and values too, as long as
/// there are as many KV heads as devices. The down-projections of MLA are held whole by every device.
std::vector<Matrix> attention_matrices(const TransformerShape& shape, std::int64_t tp);
/// Gate and up as one matrix, then down.
std::vector<Matrix> mlp_matrices(const TransformerShape& shape, std::int64_t intermediate, std::int64_t tp);
/// One expert of one layer, cut over `tp` devices (Layout::expert_tp).
std::vector<Matrix> expert_matrices(const TransformerShape& shape, std::int64_t tp);

double parameters(const std::vector<Matrix>& matrices);
/// Weights of the norms of one layer; every device holds them.
double norm_parameters(const TransformerShape& shape);
/// KV heads on one device: at least one.
std::int64_t kv_heads_per_device(const TransformerShape& shape, std::int64_t tp);

}  // namespace poolcast
