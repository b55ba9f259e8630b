// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/content.h"
#include "sim/gateway_report.h"
#include "sim/recent_count.h"
#include "sim/request.h"
#include "sim/spec.h"

namespace poolcast {

/// Requests that are sent again: by their clients, after a backoff and within a budget, or by the gateway, which sends
/// what failed on one pool to the next of its fallbacks at once. A request that waits here is in no replica and has no
/// place in the request table.
class Retries {
 public:
  explicit Retries(const SimulationSpec& spec);

  /// Whether some class retries.
  bool any() const;
  /// A request is sent for the first time.
  void sent(ClassId cls, SimTime now);
  /// When its client sends a request again that has just failed; nothing when it does not. Counts what it decides.
  std::optional<SimTime> again(const RequestRecord& record, SimTime patience, SimTime now);
  /// A try that is followed by another; `tokens` were computed for it.
  void lost(ClassId cls, std::int64_t tokens) { classes_[cls.value].report.lost_tokens += tokens; }

  struct Waiting {
    RequestRecord record;
    Content content;
    PoolId failed;  ///< a pool whose fallbacks are to be tried; not valid: the request is routed anew
  };
  void put(SimTime due, Waiting waiting) { waiting_.emplace(std::pair(due, order_++), std::move(waiting)); }
  /// When the next one is due, or kNever.
  SimTime next() const { return waiting_.empty() ? kNever : waiting_.begin()->first.first; }
  Waiting take();

  std::vector<RetryReport> report() const;

 private:
  struct Class {
    explicit Class(const ClassSpec& cls);
    RetrySpec spec;
    std::string stream;
    RecentCount sends, retries;
    RetryReport report;
  };
  SimTime backoff(const Class& cls, const RequestRecord& record) const;

  std::uint64_t seed_;
  std::vector<Class> classes_;                                    ///< by ClassId
  std::map<std::pair<SimTime, std::uint64_t>, Waiting> waiting_;  ///< by when they are due, then in order of failing
  std::uint64_t order_ = 0;
};

}  // namespace poolcast
