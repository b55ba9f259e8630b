// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/time.h"

namespace poolcast {

enum class FlowOrder : std::uint8_t {
  kFcfs,         ///< as they came
  kEdf,          ///< the one first that expires or times out first
  kSloDeadline,  ///< the one first whose TTFT objective ends first; without one last
};

enum class FlowFairness : std::uint8_t {
  kGlobalStrict,  ///< the first of all flows by the order
  kRoundRobin,    ///< flows in turn
};

/// Requests of one priority. llm-d's priorities grow with urgency; those of a request here fall, so that a request of
/// priority -10 belongs to the band of priority 10.
struct FlowBand {
  std::int32_t priority = 0;
  std::int64_t max_requests = 5000;
  std::int64_t max_bytes = 1'000'000'000;
  FlowOrder order = FlowOrder::kFcfs;
  FlowFairness fairness = FlowFairness::kGlobalStrict;
};

/// llm-d's flow control: a queue at the gateway in front of a pool. Requests wait there while the pool is saturated.
struct FlowControlSpec {
  std::int64_t max_requests = INT64_MAX;
  std::int64_t max_bytes = INT64_MAX;
  SimTime ttl = 60 * kNanosPerSecond;  ///< a request that waited so long is rejected; kNever: none is
  std::vector<FlowBand> bands;
  FlowBand other;            ///< of priorities >= 0 without a band
  FlowBand other_negative;   ///< of those below 0
  std::size_t detector = 0;  ///< index in the pipeline's plugins
  /// What a request is taken to hold; the real queue counts the bytes of its body.
  static constexpr std::int64_t kBytesPerToken = 4;
};

/// What became of the requests that came to such a queue, over the whole run.
struct FlowReport {
  bool on = false;
  std::int64_t longest = 0;  ///< requests in it
  std::uint64_t came = 0;    ///< and found room
  std::uint64_t dispatched = 0;
  std::uint64_t found_full = 0;
  std::uint64_t expired = 0;
  std::uint64_t given_up = 0;  ///< by their users or their time-out, while they waited
  SimTime wait = 0;            ///< sum over those dispatched
  SimTime longest_wait = 0;    ///< of those dispatched
};

}  // namespace poolcast
