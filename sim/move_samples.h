// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/metric.h"
#include "sim/request_table.h"
#include "sim/time.h"

namespace poolcast {

/// What can be known, at some instant, of the requests that were intended within one step of a move.
///
/// A request that has not ended counts with the latency that it has reached by then: its TTFT once its first token
/// came, else the time that it waits so far. One that ended without completing counts as one without end.
class MoveSamples {
 public:
  void begin() { *this = MoveSamples(); }
  void sent(RequestId id);
  void ended(RequestId id, const RequestRecord& record);

  std::uint64_t requests() const { return sent_; }
  std::uint64_t ended_count() const { return ended_; }
  std::uint64_t errors() const { return errors_; }
  /// ns at rank ceil(percentile / 100 * samples); kNever: without end. Nothing without a sample. TPOT, ITL and NTPOT
  /// are known of ended requests only.
  std::optional<SimTime> percentile(Metric metric, double percentile, SimTime now, const RequestTable& table) const;

 private:
  std::uint64_t sent_ = 0, ended_ = 0, errors_ = 0;
  std::array<std::vector<SimTime>, kMetrics> values_;
  std::vector<RequestId> flying_;
  std::vector<std::uint32_t> place_;  ///< in `flying_`, by RequestId
};

}  // namespace poolcast
