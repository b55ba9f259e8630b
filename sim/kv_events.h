// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace poolcast {

/// What one engine says of its prefix cache: which blocks came in and which left, by the hash of all tokens up to their
/// end (KvTable::hash). Several copies of a block are one: it comes in with the first and leaves with the last.
///
/// An engine gathers what happens and publishes it as a batch when a step ends (vLLM's Scheduler::update_from_output
/// publishes what its KV cache manager gathered since). So a block that a step computes is not known before that step
/// has ended, nor is one that it took. With a plan made ahead, what the plan of the next step did is in the batch too.
class KvEvents {
 public:
  void stored(std::uint64_t block);
  void removed(std::uint64_t block);

  /// Everything gathered so far is published at `at`, which never goes back.
  void publish(SimTime at) {
    for (; published_ < events_.size(); ++published_) events_[published_].at = at;
  }

  /// Hands over, in order, what was published up to `until` and not handed over yet: `take(block, stored)`.
  template <class Take>
  void read(SimTime until, Take take) {
    for (; read_ < published_ && events_[read_].at <= until; ++read_) take(events_[read_].block, events_[read_].stored);
    if (read_ < events_.size() / 2) return;  // what was read makes room
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(read_));
    published_ -= read_;
    read_ = 0;
  }

 private:
  struct Event {
    SimTime at;
    std::uint64_t block;
    bool stored;
  };
  std::vector<Event> events_;
  std::size_t read_ = 0;
  std::size_t published_ = 0;
};

}  // namespace poolcast
