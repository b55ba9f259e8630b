// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "sim/source.h"
#include "sim/spec.h"

namespace poolcast {

/// The sending side of one source: holds requests back while as many as its cap allows are in flight.
class Client {
 public:
  explicit Client(SourceSpec& spec) : source_(*spec.source), cap_(spec.max_concurrency) {}

  Source& source() { return source_; }
  /// When it has something to do next: take an arrival, or send one that was held back. kNever: nothing for now.
  SimTime next(SimTime now) {
    if (!held_.empty() && in_flight_ < cap_) return now;
    const SimTime arrival = source_.peek();
    return arrival == kNever ? kNever : std::max(arrival, now);
  }
  enum class Taken { kNew, kHeld, kReleased };
  /// Takes what `next` announced: a new arrival to send, one that has to wait here, or one that waited long enough.
  Taken take(Arrival& arrival) {
    if (!held_.empty() && in_flight_ < cap_) {
      arrival = std::move(held_.front());
      held_.pop_front();
      return Taken::kReleased;
    }
    arrival = source_.pop();
    if (in_flight_ < cap_) return Taken::kNew;
    held_.push_back(std::move(arrival));
    return Taken::kHeld;
  }
  /// Whether the end of a request can change what `next` says.
  bool reacts() const { return cap_ != INT64_MAX || source_.wants_feedback(); }
  void sent() { ++in_flight_; }
  void ended() { --in_flight_; }

 private:
  Source& source_;
  std::int64_t cap_;
  std::int64_t in_flight_ = 0;
  std::deque<Arrival> held_;
};

}  // namespace poolcast
