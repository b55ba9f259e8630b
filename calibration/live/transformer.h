// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "calibration/live/term_times.h"
#include "kernels/bf16.h"
#include "kernels/timer.h"
#include "models/transformer.h"

namespace poolcast {

/// A request's part in a forward pass: `query` tokens after `context` tokens whose K and V lie in `blocks` already.
/// `blocks` has room for the new ones too.
struct LiveSequence {
  std::span<const std::int32_t> blocks;
  Tokens query = 0;
  Tokens context = 0;
  bool samples = false;    ///< its last token goes through the head
  std::uint64_t text = 0;  ///< names its tokens: the same text has the same tokens, whoever computes them
};

struct LiveOptions {
  std::string implementation = "auto";  ///< of the kernels: portable, avx512, amx, or auto: the most native one here
  std::int64_t kv_blocks = 0;
  std::int64_t block_size = 16;
  int threads = 1;
  std::uint64_t seed = 0;
};

/// A decoder-only transformer with random weights in bf16 that really runs on this CPU: RMSNorm, projections, rotary
/// embeddings, paged attention with grouped heads, gated MLP, output head and greedy sampling. What it says means
/// nothing; what it costs is what a model of this shape costs.
class LiveTransformer {
 public:
  /// Throws ModelError for what it cannot run (mixtures of experts, latent attention, an MLP without a gate, an
  /// implementation that this machine does not have) and std::bad_alloc.
  LiveTransformer(const TransformerShape& shape, const LiveOptions& options);
  ~LiveTransformer();

  /// One forward pass of all sequences together, those with more than one query token first. Time from the embedding
  /// to the sampled tokens.
  kernels::RunTime forward(std::span<const LiveSequence> batch);
  /// What the wall time of the last pass went to.
  const TermTimes& terms() const;

  /// Of the last pass: a row of `vocab` for each sequence that samples, in their order. Valid until the next pass.
  std::span<const kernels::Bf16> logits() const;

  std::int64_t kv_blocks() const;
  std::int64_t block_size() const;
  std::string description() const;  ///< "smollm2-135m in bf16, avx512, 1 thread"

 private:
  struct Pass;
  std::unique_ptr<Pass> pass_;
};

}  // namespace poolcast
