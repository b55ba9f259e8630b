// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "sim/schedulers/bucketed_args.h"
#include "sim/schedulers/scheduler.h"

namespace poolcast {

/// Token buckets of vLLM on TPU (tpu-inference, runner/utils.py at b8692ff0): from `least` doubling until `most` is
/// covered; with a `gap` only up to it, then in steps of it. The last may exceed `most`.
std::vector<std::int64_t> tpu_token_buckets(std::int64_t least, std::int64_t most, std::int64_t gap);
/// Request buckets of the same: from `least` doubling, the last one is max(most, least).
std::vector<std::int64_t> tpu_request_buckets(std::int64_t least, std::int64_t most);
/// Buckets of NxD Inference (modules/autobucketing.py at 4bcdc54b): powers of two from `least`, as many as the rounded
/// logarithm of `most` tells, then `most`. So 600 gives 128, 256, 600 and 768 gives 128, 256, 512, 768.
std::vector<std::int64_t> neuron_buckets(std::int64_t least, std::int64_t most);
/// Prefill buckets of JetStream (core/engine token_utils.py at acd4f5ad): powers of two from 16 below `most`, then
/// `most`.
std::vector<std::int64_t> jetstream_buckets(std::int64_t most);

/// The compiled shapes of an engine: what a plan is padded to, and what the first use of a shape costs.
class Buckets {
 public:
  explicit Buckets(const BucketedArgs& args) : args_(args) {}

  /// vLLM on TPU: tokens and sampling requests go up to their buckets; attention takes the real lengths.
  void pad_ragged(StepPlan& plan);
  /// Neuron, JetStream: one prompt goes up to its bucket, attention included.
  void pad_prompt(StepPlan& plan);
  /// The same: a decode step runs all compiled rows over the bucket that holds the longest context.
  void pad_decodes(StepPlan& plan, Tokens longest);
  /// Decode steps, the present one included, for which the bucket of the longest context stays the same.
  std::int64_t steps_in_bucket(Tokens longest) const;

 private:
  enum class Program : std::uint8_t { kStep, kPrompt, kDecode };

  bool strict() const;
  Tokens context_bucket(Tokens longest) const;
  void use(StepPlan& plan, Program program, std::int64_t size, std::int64_t rows);

  BucketedArgs args_;
  std::set<std::vector<std::int64_t>> compiled_;
};

}  // namespace poolcast
