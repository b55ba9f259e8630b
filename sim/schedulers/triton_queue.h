// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/ids.h"
#include "sim/schedulers/triton_args.h"
#include "sim/time.h"

namespace poolcast {

/// Triton's queue of requests that are in no batch yet (PriorityQueue of src/scheduler_utils.cc at 73aad7c3): levels,
/// most urgent first; in a level the requests whose time has not run out, first in first out, then those that a DELAY
/// policy has put back.
///
/// Expiry is strict (now > deadline) and lazy: it is seen when a scan reaches the request, or by `drop_expired`.
class TritonQueue {
 public:
  struct Entry {
    RequestId id;
    SimTime arrival = 0;
    SimTime deadline = kNever;
  };

  explicit TritonQueue(const TritonArgs& args);

  bool empty() const { return size_ == 0; }
  std::int64_t size() const { return size_; }
  /// Whether a policy refuses requests whose time has run out.
  bool rejects_late() const { return rejects_late_; }

  /// False when the level of this priority is full (max_queue_size; what is in a batch does not count).
  bool add(RequestId id, std::int32_t priority, SimTime now);
  /// Takes out one request; false when it is not here.
  bool remove(RequestId id);

  /// Calls `visit(entry)` in order of service until it says false. Requests found expired on the way are put back or
  /// appended to `rejected`.
  template <class Visit>
  void scan(SimTime now, std::vector<RequestId>& rejected, Visit visit) {
    for (Level& level : levels_) {
      for (std::size_t i = 0; i < level.timely.size();) {
        if (now > level.timely[i].deadline) {
          expire(level, i, rejected);
        } else if (!visit(level.timely[i++])) {
          return;
        }
      }
      for (const Entry& entry : level.delayed) {
        if (!visit(entry)) return;
      }
    }
  }
  /// Takes the first in order of service. Only when not empty, and not past an expired one (scan first).
  RequestId pop();
  /// Refuses every request whose time has run out under a REJECT policy.
  void drop_expired(SimTime now, std::vector<RequestId>& rejected);
  /// Empties the queue into `out`, in order of service.
  void take_all(std::vector<RequestId>& out);

 private:
  struct Level {
    TritonArgs::QueuePolicy policy;
    std::deque<Entry> timely;
    std::deque<Entry> delayed;
  };
  void expire(Level& level, std::size_t at, std::vector<RequestId>& rejected);
  std::size_t level_of(std::int32_t priority) const;

  std::vector<Level> levels_;
  std::int64_t default_level_;
  std::int64_t size_ = 0;
  bool rejects_late_ = false;
};

}  // namespace poolcast
