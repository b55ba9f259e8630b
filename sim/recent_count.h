// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "sim/time.h"

namespace poolcast {

/// How many things happened in the last `window`: at t those after t - window, t included. Exact, so it holds as many
/// instants as that.
class RecentCount {
 public:
  explicit RecentCount(SimTime window) : window_(window) {}

  void add(SimTime now) { times_.push_back(now); }
  std::uint64_t at(SimTime now) {
    while (!times_.empty() && times_.front() <= now - window_) times_.pop_front();
    return times_.size();
  }
  void clear() { times_.clear(); }

 private:
  SimTime window_;
  std::deque<SimTime> times_;
};

}  // namespace poolcast
