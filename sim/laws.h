// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>

#include "sim/report.h"
#include "sim/request.h"
#include "sim/request_table.h"

namespace poolcast {

/// A law of the simulator did not hold: a fault of poolcast, never of its user. The program exits with 3.
class BrokenLaw : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// What is checked in every run, whatever the scenario:
///  - causality: the instants of a request are in order;
///  - requests: everything that was sent ended, once;
///  - tokens: what the replicas computed is what their requests hold and what they lost, less what a cache gave them;
///  - blocks: every replica ends with all its blocks free and nobody on its lists;
///  - Little: the time integral of the requests in the system is the sum of their stays.
class Laws {
 public:
  void request_ended(const RequestRecord& record, const SchedulerState& state);
  /// The half of a request that computed its prompt for another replica.
  void prompt_handed_over(const SchedulerState& state) { add_tokens(state); }
  /// A try of a request that is sent again, or a copy of one.
  void try_ended(const SchedulerState& state) { add_tokens(state); }
  void replica_ended(const ReplicaReport& report, std::int64_t free_blocks, std::int64_t held_requests);
  /// After every request and replica. Throws BrokenLaw.
  void run_ended(const Report& report, std::uint64_t offered) const;

 private:
  void add_tokens(const SchedulerState& s) { tokens_held_ += s.computed + s.dropped - s.cached; }

  std::uint64_t ended_ = 0;
  std::int64_t tokens_held_ = 0;
  std::int64_t tokens_computed_ = 0;
  __extension__ __int128 stays_ns_ = 0;
};

}  // namespace poolcast
