// SPDX-License-Identifier: Apache-2.0
#include "sim/busy_share.h"

#include <algorithm>

namespace poolcast {
namespace {

/// How many were busy at once between two corners: a whole number.
template <class Corner>
SimTime slope(const Corner& from, const Corner& to) {
  return (to.total - from.total) / (to.time - from.time);
}

}  // namespace

void BusyShare::before_change(std::uint32_t index, SimTime now, SimTime total) {
  Line& line = lines_[index];
  std::vector<Corner>& corners = line.corners;
  const Corner corner{now, total};
  if (corners.back().time == now) return;
  const std::size_t kept = corners.size() - line.first;
  if (kept > 1 && slope(corners[corners.size() - 2], corners.back()) == slope(corners.back(), corner)) {
    corners.back() = corner;
  } else {
    corners.push_back(corner);
  }
  while (line.first + 1 < corners.size() && corners[line.first + 1].time <= now - window_) ++line.first;
  if (line.first > 32 && line.first > corners.size() / 2) {
    corners.erase(corners.begin(), corners.begin() + static_cast<std::ptrdiff_t>(line.first));
    line.first = 0;
  }
}

/// Of the line that goes on from its last corner to `end`.
SimTime BusyShare::total_at(const Line& line, SimTime then, const Corner& end) {
  const auto first = line.corners.begin() + static_cast<std::ptrdiff_t>(line.first);
  const auto after = std::upper_bound(first, line.corners.end(), then,
                                      [](SimTime time, const Corner& corner) { return time < corner.time; });
  if (after == first) return first->total;
  const Corner& from = *(after - 1);
  const Corner& to = after == line.corners.end() ? end : *after;
  return from.total + (to.time > from.time ? slope(from, to) * (then - from.time) : 0);
}

double BusyShare::share(std::uint32_t index, SimTime now, SimTime total) const {
  const SimTime busy = total - total_at(lines_[index], now - window_, {now, total});
  return std::clamp(static_cast<double>(busy) / (static_cast<double>(width_) * static_cast<double>(window_)), 0.0, 1.0);
}

}  // namespace poolcast
