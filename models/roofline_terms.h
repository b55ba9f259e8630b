// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/roofline.h"
#include "models/shard.h"

namespace poolcast {

/// max(compute, memory) of attention, with both sides linear: seconds = rate * size + …
struct AttentionRates {
  // Prefill of q tokens after c: the longer of
  //   pair * (q c + q (q + 1) / 2) + expand * c      and      kv * (q + c) + io * q.
  double prefill_pair_s = 0;
  double prefill_expand_s = 0;  ///< MLA: the latents of the context are expanded to heads again for each chunk
  double prefill_kv_s = 0;
  double prefill_io_s = 0;
  // Decode of B requests over total context S: the longer of  pair * S  and  kv * S + io * B.
  double decode_pair_s = 0;
  double decode_kv_s = 0;
  double decode_io_s = 0;
};

/// The terms of a roofline step, each computed directly. `RooflineCurve` keeps those that depend on one count in
/// tables.
///
/// A product of T tokens with a weight matrix of k x n takes the longer of
///   2 T k n / (peak * compute_efficiency)   and   (k n * bytes + T (k + n) * 2) / (bandwidth * memory_efficiency).
class RooflineTerms {
 public:
  RooflineTerms(const Accelerator& accelerator, const TransformerShape& shape, const Layout& layout,
                const RooflineOptions& options);

  /// Attention projections, dense MLPs, shared experts, routers, norms and residuals of all layers, for T tokens.
  double linear(Tokens tokens) const;
  /// Routed experts of the busiest of the ep groups of devices. T tokens that choose k of E experts, each expert of
  /// that group with probability p = imbalance * k/E, bring it T p E/ep pairs and touch E/ep (1 - (1 - p)^T) of its
  /// experts, whose weights are read. Where ranks share experts, every rank is taken to hold as many tokens as this
  /// one.
  double experts(Tokens tokens) const;
  /// Two ring all-reduces a layer of T * hidden bf16 values: 2 (tp - 1)/tp of the bytes pass each link, after
  /// 2 (tp - 1) hops (Thakur, Rabenseifner, Gropp 2005). One where ranks share experts: its halves, reduce-scatter and
  /// all-gather, then stand around the experts, and each device sends its T/tp tokens to them.
  double all_reduce(Tokens tokens) const;
  /// Where ranks share experts: to them and back, in ep - 1 rounds each way (pairwise exchange, same source). A token
  /// passes the link once for each other device that holds one of its experts, at uniform routing
  ///   (ep - 1) (1 - C(E - E/ep, k) / C(E, k)) of them;
  /// the busiest device gets `imbalance` times that, and no more than ep - 1 times. Within one rank every device has
  /// all tokens already, and the all-reduce adds up what its experts made of them.
  double exchange(Tokens tokens) const;
  /// The output head for n sampled tokens, the gathering of its shards, and two passes over the logits in fp32.
  double head(std::int64_t sampled) const;
  const AttentionRates& attention() const { return attention_; }
  double host(std::int64_t requests) const { return host_base_ + host_per_request_ * static_cast<double>(requests); }

 private:
  double product(double tokens, const Matrix& matrix, double weight_bytes, double rate) const;

  TransformerShape shape_;
  double tp_;
  double weight_bytes_;      // per parameter of a linear layer
  double linear_rate_;       // FLOP/s that linear layers reach
  double bf16_rate_;         // FLOP/s that the head and the router reach
  double memory_rate_;       // B/s
  double link_rate_ = 0;     // B/s, of one direction
  double link_latency_;      // s per hop
  double host_base_;         // s
  double host_per_request_;  // s
  double ep_ = 1;
  double ranks_ = 1;      // that share experts
  double imbalance_ = 1;  // busiest group of experts over the mean
  double copies_ = 0;     // of a token that leave its device
  std::vector<Matrix> attention_matrices_, mlp_matrices_, expert_matrices_, shared_matrices_;
  AttentionRates attention_;
};

}  // namespace poolcast
