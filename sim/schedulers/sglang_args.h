// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/schedulers/fidelity.h"

namespace poolcast {

/// Arguments of the SGLang engine, by SGLang's own names (python/sglang/srt/server_args.py and environ.py at 8905cbd).
/// INT64_MAX stands for None. A scenario gets its defaults from scenarios/catalog/engines.yaml.
struct SglangArgs {
  enum class Policy { kFcfs, kLpm, kDfsWeight, kLof, kRandom };
  enum class Eviction { kLru, kLfu, kFifo, kMru, kFilo, kSlru, kPriority };
  enum class Retraction { kLength, kPriority };

  std::int64_t max_total_num_tokens = 0;  ///< tokens of KV cache that can be used
  std::int64_t context_length = 8192;     ///< tokens of a sequence, prompt and output together
  std::int64_t page_size = 1;             ///< tokens per KV page
  std::int64_t max_running_requests = 2048;
  std::int64_t chunked_prefill_size = 8192;  ///< tokens; <= 0 = off
  std::int64_t max_prefill_tokens = 16384;
  std::int64_t prefill_max_requests = INT64_MAX;
  Policy schedule_policy = Policy::kFcfs;
  double schedule_conservativeness = 1.0;
  bool allow_auto_truncate = false;  ///< cut a prompt that is too long instead of refusing it
  bool enable_mixed_chunk = false;
  bool disable_overlap_schedule = false;
  bool disable_radix_cache = false;
  Eviction radix_eviction_policy = Eviction::kLru;
  Retraction retraction_policy = Retraction::kLength;
  bool enable_priority_scheduling = false;
  bool schedule_low_priority_values_first = false;  ///< else a larger priority is more urgent
  bool disable_priority_preemption = false;
  std::int64_t priority_scheduling_preemption_threshold = 10;
  double init_new_token_ratio = 0.7;               ///< SGLANG_INIT_NEW_TOKEN_RATIO
  double min_new_token_ratio_factor = 0.14;        ///< SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR
  std::int64_t new_token_ratio_decay_steps = 600;  ///< SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS
  std::int64_t retract_decode_steps = 20;          ///< SGLANG_RETRACT_DECODE_STEPS
  std::int64_t clip_max_new_tokens = 4096;         ///< SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION
  std::int64_t in_batch_prefix_check = 32;         ///< IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD
  std::int64_t in_batch_prefix_deprioritize = 32;  ///< IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD
  std::int64_t stream_interval = 1;                ///< tokens in a message to the client
  std::uint64_t random_seed = 0;                   ///< of the policy `random`
  Fidelity fidelity = Fidelity::kMended;
  /// The max_new_tokens that a client declares is its output length times this; 1: it knows. (Poolcast's own: traces
  /// hold what was generated, not what was allowed.)
  double declared_output_factor = 1.0;

  bool operator==(const SglangArgs&) const = default;
};

}  // namespace poolcast
