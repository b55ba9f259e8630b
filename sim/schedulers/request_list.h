// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/request_table.h"

namespace poolcast {

/// Requests in the order in which they were appended, linked through their SchedulerState: a request stands in one list
/// at most.
class RequestList {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit RequestList(RequestTable& table) : table_(table) {}

  std::int64_t size() const { return size_; }
  std::uint32_t head() const { return head_; }  ///< kNone when empty; `next` of its state leads on
  std::uint32_t tail() const { return tail_; }

  void append(RequestId id) {
    SchedulerState& s = table_.state(id);
    s.previous = tail_;
    s.next = kNone;
    (tail_ == kNone ? head_ : table_.state(RequestId(tail_)).next) = id.value;
    tail_ = id.value;
    ++size_;
  }
  /// Its own links stay as they were, so that a walk standing on it can go on.
  void remove(RequestId id) {
    const SchedulerState& s = table_.state(id);
    (s.previous == kNone ? head_ : table_.state(RequestId(s.previous)).next) = s.next;
    (s.next == kNone ? tail_ : table_.state(RequestId(s.next)).previous) = s.previous;
    --size_;
  }

 private:
  RequestTable& table_;
  std::uint32_t head_ = kNone, tail_ = kNone;
  std::int64_t size_ = 0;
};

}  // namespace poolcast
