// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/histogram.h"
#include "sim/metric.h"
#include "sim/request.h"

/// Requests that have ended, counted and timed.
namespace poolcast {

/// What `metric` is of a completed request, ns: TPOT and ITL are the mean gap between its tokens, to the nearest
/// nanosecond, 0 when it has one token.
SimTime value_of(Metric metric, const RequestRecord& record);

/// Requests by how they ended. Of measured requests only, unless it says otherwise.
struct Outcomes {
  std::uint64_t offered = 0;
  std::array<std::uint64_t, kOutcomes> ended{};   ///< by Outcome; their sum is `offered`
  std::uint64_t accepted = 0;                     ///< of the completed ones
  std::array<std::uint64_t, kReasons> reasons{};  ///< by Reason, of those that did not complete
  std::int64_t prompt_tokens = 0;                 ///< of completed requests
  std::int64_t output_tokens = 0;                 ///< of completed requests
  std::int64_t accepted_output_tokens = 0;

  void merge(const Outcomes& other);
  std::uint64_t count(Outcome outcome) const { return ended[static_cast<std::size_t>(outcome)]; }
};

/// Latencies of completed, measured requests. TTFT, E2E and queue delay run from `intended`; TPOT is
/// (last token - first token) / (output tokens - 1), of requests with two tokens or more; ITL pools every gap between
/// messages of one request (vLLM's `itl`), those of requests that did not complete included; a message is a token
/// unless the engine sends several at once.
struct Latencies {
  std::array<Histogram, kMetrics> by_metric;

  Histogram& operator[](Metric m) { return by_metric[static_cast<std::size_t>(m)]; }
  const Histogram& operator[](Metric m) const { return by_metric[static_cast<std::size_t>(m)]; }
  void merge(const Latencies& other);
};

/// One class of requests on one pool; every table of the report is a sum of these. A request that was never routed
/// counts in the cell of its class with no pool.
struct Cell {
  Outcomes outcomes;
  Latencies latencies;

  /// Counts a request that has ended. `capped_clients`: some client holds requests back, so that sent is not intended.
  void add(const RequestRecord& record, bool capped_clients);
  void merge(const Cell& other);
};

}  // namespace poolcast
