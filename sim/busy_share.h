// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace poolcast {

/// What share of the last `window` the engines of each candidate were busy: in a step, or in a batch for each instance.
///
/// Nobody is asked at intervals. The time that a candidate was busy is a line between two of its changes, so it is kept
/// as the corners of those lines, and corners at which nothing bends are left out: how a run of steps was cut into
/// leaps does not show. All sums are whole nanoseconds.
class BusyShare {
 public:
  /// `width`: engines of a candidate times instances of an engine.
  BusyShare(std::uint32_t candidates, std::int64_t width, SimTime window)
      : width_(width), window_(window), lines_(candidates) {}

  /// The candidate is about to change at `now`, and was busy for `total` so far. `now` never falls.
  void before_change(std::uint32_t index, SimTime now, SimTime total);
  /// At `now`, not before its last change; `total` as above. Time before the start of the run counts as idle.
  double share(std::uint32_t index, SimTime now, SimTime total) const;

 private:
  struct Corner {
    SimTime time = 0;
    SimTime total = 0;
  };
  struct Line {
    std::vector<Corner> corners = {{}};
    std::size_t first = 0;  ///< those before it are older than any window that can still be asked for
  };
  static SimTime total_at(const Line& line, SimTime then, const Corner& end);

  std::int64_t width_;
  SimTime window_;
  std::vector<Line> lines_;  ///< by candidate
};

}  // namespace poolcast
