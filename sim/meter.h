// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/backlog.h"
#include "sim/report.h"
#include "sim/request.h"
#include "sim/spec.h"

namespace poolcast {

/// Counts and times requests into the cells of the report.
class Meter {
 public:
  explicit Meter(const SimulationSpec& spec);

  /// A user wants to send a request; a capped client may hold it back.
  void arrived(SimTime now) { backlog_.arrived(now); }
  /// A request was sent; decides whether it is measured.
  void sent(RequestRecord& record);
  /// A request has ended; decides whether it is accepted.
  void ended(RequestRecord& record);

  std::uint64_t offered() const { return offered_; }
  std::uint64_t ended_count() const { return ended_; }
  /// Where the gaps between tokens of a pool are counted: by ClassId, then one null for requests that are not measured.
  std::vector<Histogram*> gaps_of_pool(PoolId pool);
  Report take(SimTime end);

 private:
  Cell& cell(ClassId cls, PoolId pool) { return report_.cells[cls.value][pool.valid() ? pool.value : pools_]; }
  bool meets_objectives(const RequestRecord& record) const;

  const std::vector<ClassSpec>& classes_;
  MeasureSpec measure_;
  std::size_t pools_;
  bool capped_clients_;
  Backlog backlog_;
  std::uint64_t offered_ = 0;
  std::uint64_t ended_ = 0;
  Report report_;
};

}  // namespace poolcast
