// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/gap_meter.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace poolcast {

void GapMeter::add(Seconds timestamp, std::uint64_t line) {
  const double at = timestamp.value;
  common_ = std::gcd(common_, to_sim_time(timestamp));
  const double before = std::exchange(last_s_, at);
  if (!std::exchange(started_, true)) return;
  // To the nanosecond: differences of doubles show digits that no trace has.
  const TraceGap gap{static_cast<double>(to_sim_time(Seconds(at - before))) / 1e9, before, line};
  ++stats_.count;
  const double delta = gap.length_s - mean_;
  mean_ += delta / static_cast<double>(stats_.count);
  squares_ += delta * (gap.length_s - mean_);
  if (gap.length_s <= 0) {
    if (stats_.zeros++ == 0) stats_.first_zero_line = line;
    return;
  }
  stats_.tiny += gap.length_s < 1e-5 ? 1 : 0;
  if (stats_.shortest.line == 0 || gap.length_s < stats_.shortest.length_s) stats_.shortest = gap;
  keep_long(gap);
}

void GapMeter::keep_long(const TraceGap& gap) {
  auto& kept = stats_.longest;
  if (kept.size() == kLongest && gap.length_s <= kept.back().length_s) return;
  const auto longer_first = [](const TraceGap& a, const TraceGap& b) { return a.length_s > b.length_s; };
  kept.insert(std::upper_bound(kept.begin(), kept.end(), gap, longer_first), gap);
  if (kept.size() > kLongest) kept.pop_back();
}

GapStats GapMeter::stats() const {
  GapStats stats = stats_;
  stats.mean_s = mean_;
  if (stats.count > 0 && mean_ > 0) stats.cv = std::sqrt(squares_ / static_cast<double>(stats.count)) / mean_;
  return stats;
}

double GapMeter::quantum_s() const {
  if (common_ == 0) return 0;
  SimTime quantum = 1;
  while (quantum < kNanosPerSecond && common_ % (quantum * 10) == 0) quantum *= 10;
  return static_cast<double>(quantum) / 1e9;
}

}  // namespace poolcast
