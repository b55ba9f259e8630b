// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <iterator>

#include "sim/request_table.h"
#include "sim/time.h"

namespace poolcast {

/// Deadlines of one class and one kind. They all lie the same time after `sent`, so they fall in the order of sending:
/// a queue, not a heap, and one event for all of them. Only a request that is sent again may count from an earlier
/// instant.
class Deadlines {
 public:
  Deadlines(SimTime allowance, const RequestTable& table) : allowance_(allowance), table_(table) {}

  void add(RequestId id, SimTime sent) {
    const Entry entry{sent + allowance_, id, table_.generation(id)};
    auto at = queue_.end();
    while (at != queue_.begin() && std::prev(at)->time > entry.time) --at;
    queue_.insert(at, entry);
  }
  /// The next deadline of a request that is still in flight, or kNever.
  SimTime next() {
    while (!queue_.empty() && table_.generation(queue_.front().id) != queue_.front().generation) queue_.pop_front();
    return queue_.empty() ? kNever : queue_.front().time;
  }
  RequestId pop() {
    const RequestId id = queue_.front().id;
    queue_.pop_front();
    return id;
  }

 private:
  struct Entry {
    SimTime time;
    RequestId id;
    std::uint32_t generation;
  };
  SimTime allowance_;
  const RequestTable& table_;
  std::deque<Entry> queue_;
};

}  // namespace poolcast
