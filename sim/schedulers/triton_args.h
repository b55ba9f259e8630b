// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace poolcast {

/// Triton Inference Server's dynamic batcher, by the names of its model configuration (model_config.proto). For models
/// that answer in one pass: embeddings, rerankers, classifiers, image models.
struct TritonArgs {
  enum class TimeoutAction { kReject, kDelay };
  struct QueuePolicy {
    TimeoutAction timeout_action = TimeoutAction::kReject;
    std::int64_t default_timeout_microseconds = 0;  ///< 0 = none
    std::int64_t max_queue_size = 0;                ///< 0 = no limit

    bool operator==(const QueuePolicy&) const = default;
  };

  std::int64_t max_batch_size = 4;
  bool dynamic_batching = true;
  std::vector<std::int64_t> preferred_batch_size;  ///< ascending; empty: {max_batch_size}
  std::int64_t max_queue_delay_microseconds = 0;
  bool preserve_ordering = false;
  std::int64_t priority_levels = 0;  ///< 0 = none; 1 is most urgent
  std::int64_t default_priority_level = 0;
  QueuePolicy default_queue_policy;
  std::vector<QueuePolicy> priority_queue_policy;  ///< by level - 1; empty or as many as levels
  std::int64_t instance_count = 1;                 ///< instances of one replica, each runs one batch at a time
  std::int64_t max_tokens = 512;                   ///< longest input; shorter ones are padded to the longest of a batch
  std::int64_t passes = 1;                         ///< equal passes of a request: the steps of an image
  bool passes_by_output = false;  ///< as many as its output says, with max_batch_size 1: the steps of a training job

  bool operator==(const TritonArgs&) const = default;
};

/// ONNX Runtime sessions without a server: no batching, one request on one session thread at a time.
struct SessionArgs {
  std::int64_t instance_count = 1;        ///< sessions, each runs one request at a time
  std::int64_t intra_op_num_threads = 0;  ///< 0 = all physical cores
  std::int64_t physical_cores = 1;        ///< of the replica's device
  bool allow_spinning = true;             ///< idle workers of one session steal cores from the others
  std::int64_t max_tokens = 512;
  std::int64_t passes = 1;        ///< as in TritonArgs
  bool passes_by_output = false;  ///< as in TritonArgs

  bool operator==(const SessionArgs&) const = default;
};

}  // namespace poolcast
