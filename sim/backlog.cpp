// SPDX-License-Identifier: Apache-2.0
#include "sim/backlog.h"

#include <algorithm>
#include <cmath>

namespace poolcast {

void Backlog::arrived(SimTime now) {
  if (origin_ == kNever) origin_ = last_ = now;
  ++advance(now).arrived;
  ++in_system_;
}

void Backlog::ended(SimTime now) {
  ++advance(now).ended;
  --in_system_;
}

/// Adds the area up to `now` and returns the bin of `now`.
Backlog::Bin& Backlog::advance(SimTime now) {
  while ((now - origin_) / width_ >= static_cast<SimTime>(kMaxBins)) halve();
  const auto bin_now = static_cast<std::size_t>((now - origin_) / width_);
  if (bin_now >= bins_.size()) bins_.resize(bin_now + 1);
  auto bin = static_cast<std::size_t>((last_ - origin_) / width_);
  for (; bin < bin_now; ++bin) {
    const SimTime border = origin_ + static_cast<SimTime>(bin + 1) * width_;
    bins_[bin].area += static_cast<Integral>(in_system_) * (border - last_);
    last_ = border;
  }
  bins_[bin_now].area += static_cast<Integral>(in_system_) * (now - last_);
  last_ = now;
  return bins_[bin_now];
}

/// Makes windows twice as wide.
void Backlog::halve() {
  const std::size_t half = (bins_.size() + 1) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    Bin merged = bins_[2 * i];
    if (2 * i + 1 < bins_.size()) {
      merged.area += bins_[2 * i + 1].area;
      merged.arrived += bins_[2 * i + 1].arrived;
      merged.ended += bins_[2 * i + 1].ended;
    }
    bins_[i] = merged;
  }
  bins_.resize(half);
  width_ *= 2;
}

namespace {

struct Trend {
  double slope = 0;  ///< requests per second
  double mean = 0;
  double correlation = 0;
};

/// Least squares of the mean number in system over time.
Trend trend_of(const std::vector<Window>& windows, std::size_t first, std::size_t last) {
  Trend trend;
  const auto n = static_cast<double>(last - first);
  double mean_t = 0;
  for (std::size_t i = first; i < last; ++i) {
    mean_t += to_seconds(windows[i].begin).value / n;
    trend.mean += windows[i].mean_in_system / n;
  }
  double tt = 0, ty = 0, yy = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double t = to_seconds(windows[i].begin).value - mean_t;
    const double y = windows[i].mean_in_system - trend.mean;
    tt += t * t;
    ty += t * y;
    yy += y * y;
  }
  if (tt > 0) trend.slope = ty / tt;
  if (tt > 0 && yy > 0) trend.correlation = ty / std::sqrt(tt * yy);
  return trend;
}

}  // namespace

/// A run is not stationary when, over the second half of the arrivals, the number in the system grows steadily
/// (correlation with time above 0.7) and by much: more than 40 % of its mean and more than its usual fluctuation.
void Backlog::report(SimTime end, Report& report) {
  if (origin_ == kNever) return;
  advance(end);
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const SimTime begin = origin_ + static_cast<SimTime>(i) * width_;
    const SimTime stop = std::min(begin + width_, end);
    const double length = static_cast<double>(std::max<SimTime>(stop - begin, 1));
    report.windows.push_back(
        {begin, stop, bins_[i].arrived, bins_[i].ended, static_cast<double>(bins_[i].area) / length});
    report.in_system_ns += bins_[i].area;
  }
  const auto arriving = static_cast<std::size_t>((report.last_arrival - origin_) / width_);  // whole windows only
  const std::size_t first = arriving / 2;
  if (arriving < first + 8) return;
  const Trend trend = trend_of(report.windows, first, arriving);
  const double growth = trend.slope * to_seconds(static_cast<SimTime>(arriving - first) * width_).value;
  report.backlog_growth_per_s = trend.slope;
  report.stationary = !(trend.correlation > 0.7 && growth > 0.4 * trend.mean && growth > 4 * std::sqrt(trend.mean) + 4);
}

}  // namespace poolcast
