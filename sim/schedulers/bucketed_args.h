// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace poolcast {

/// Engines with static shapes: every step is padded up to a bucket, and the first use of a bucket compiles it unless
/// that was done ahead. Three flavours with their own rules (facts and sources in schedulers/bucketed.h).
struct BucketedArgs {
  enum class Flavour {
    kTpu,        ///< vLLM on TPU (tpu-inference): vLLM's loop; token and request buckets; attention is ragged
    kNeuron,     ///< vLLM on Neuron (NxD Inference): one prompt a step, then all rows; context buckets; no paging
    kJetstream,  ///< JetStream: prefill buckets, a fixed number of decode slots, prefill first while a slot is free
  };
  Flavour flavour = Flavour::kTpu;

  std::int64_t max_num_seqs = 256;
  std::int64_t max_num_batched_tokens = 1024;  ///< tpu
  std::int64_t max_model_len = 8192;           ///< tokens of a sequence, prompt and output together
  std::int64_t block_size = 16;                ///< tpu: tokens per KV block
  std::int64_t num_gpu_blocks = 0;             ///< tpu: blocks, the null block included
  std::int64_t long_prefill_token_threshold = 0;
  bool scheduler_reserve_full_isl = true;
  bool enable_prefix_caching = true;  ///< tpu

  std::vector<std::int64_t> token_buckets;    ///< ascending. tpu: tokens of a step; neuron, jetstream: a padded prompt
  std::vector<std::int64_t> request_buckets;  ///< ascending. tpu: requests that sample; neuron: batch rows
  std::vector<std::int64_t> context_buckets;  ///< ascending. neuron: longest context of a decode step

  bool precompile = true;                  ///< all buckets before the first request; otherwise at first use
  double compile_seconds = 60.0;           ///< one program
  double compile_seconds_per_token = 0.0;  ///< more for a larger bucket
  bool compile_cache = false;  ///< compiled programs survive: a bucket costs `cached_compile_seconds` at first use
  double cached_compile_seconds = 5.0;

  bool operator==(const BucketedArgs&) const = default;
};

}  // namespace poolcast
