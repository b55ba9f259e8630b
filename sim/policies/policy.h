// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sim/kv_reading.h"

namespace poolcast {

/// What engines publish of themselves, by candidate index, as it stands at this instant. A candidate that has several
/// engines (a pool, a replica of data-parallel ranks) counts as their sum.
class Signals {
 public:
  virtual ~Signals() = default;
  virtual std::int64_t waiting(std::uint32_t index) const = 0;
  virtual std::int64_t running(std::uint32_t index) const = 0;
  virtual double kv_usage(std::uint32_t index) const = 0;  ///< share of the KV memory in use, the mean over its engines
  /// The same, and how long it stays so: not known here.
  virtual KvReading read_kv(std::uint32_t index) const { return {kv_usage(index), INT64_MIN}; }
  /// Share of the last SignalSpec::busy_window that its engines spent in steps; 0 where nobody asked for it.
  virtual double busy(std::uint32_t index) const {
    (void)index;
    return 0;
  }
};

/// What a policy may look at: candidates by index (pools at the gateway, the replicas of one pool below it).
struct Candidates {
  std::span<const std::int64_t> load;   ///< requests running and waiting, by index
  std::span<const double> weight;       ///< by index; > 0 except for `weighted`, where 0 means no traffic
  std::span<const std::uint32_t> open;  ///< the indices that may be chosen, ascending; never empty
  const Signals* signals = nullptr;     ///< null only where there are no engines (tests)

  std::size_t size() const { return open.size(); }
  /// Load for its weight: what balancing policies compare.
  double pressure(std::uint32_t index) const { return static_cast<double>(load[index]) / weight[index]; }
};

/// Chooses where a newly arrived request goes.
///
/// Contract: reads only `candidates`; returns one of `candidates.open`. Candidates that are equal by the rule are
/// equally likely, by the policy's own random stream: a tie never goes to the lower index by accident.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::uint32_t choose(const Candidates& candidates) = 0;
};

}  // namespace poolcast
