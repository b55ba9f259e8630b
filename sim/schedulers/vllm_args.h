// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/schedulers/fidelity.h"
#include "sim/schedulers/speculation.h"

namespace poolcast {

/// Arguments of the vLLM V1 engine, by vLLM's own names. Defaults are those of vLLM's classes; a scenario gets its
/// defaults from the versioned table in scenarios/catalog/engines.yaml.
struct VllmArgs {
  enum class Policy { kFcfs, kPriority };
  enum class Victim { kReleased, kLeastComputed };

  std::int64_t max_num_seqs = 128;
  std::int64_t max_num_batched_tokens = 2048;
  std::int64_t max_model_len = 8192;  ///< tokens of a sequence, prompt and output together
  std::int64_t block_size = 16;       ///< tokens per KV block
  std::int64_t num_gpu_blocks = 0;    ///< blocks, the null block included: one fewer can be used
  bool enable_chunked_prefill = true;
  std::int64_t long_prefill_token_threshold = 0;  ///< most tokens of one prompt in a step; 0 = no limit
  Policy policy = Policy::kFcfs;
  /// Who gives way when blocks run out. Released: of the worst priority the youngest, and without priorities the one
  /// that was admitted last. Least computed: of the worst priority the one with the fewest tokens to lose.
  Victim preemption_victim = Victim::kReleased;
  bool scheduler_reserve_full_isl = true;  ///< admit only if the whole sequence so far fits into free blocks
  double watermark = 0.0;                  ///< share of num_gpu_blocks kept free at admission
  bool enable_prefix_caching = false;
  std::int64_t stream_interval = 1;  ///< tokens in a message to the client
  bool async_scheduling = false;     ///< a step is planned while the one before it runs
  SpeculationArgs speculation;       ///< not together with async_scheduling
  double kv_offloading_size = 0;     ///< GiB of host memory for KV blocks; 0 = none
  std::int64_t host_blocks = 0;      ///< that fit into it
  Fidelity fidelity = Fidelity::kMended;

  bool operator==(const VllmArgs&) const = default;
};

}  // namespace poolcast
