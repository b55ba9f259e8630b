// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/rate_windows.h"

#include <algorithm>

namespace poolcast {

void RateWindows::add(double at_s) {
  while (at_s >= width_s_ * static_cast<double>(kMostBins)) {
    for (std::size_t i = 0; i < bins_.size(); i += 2)
      bins_[i / 2] = bins_[i] + (i + 1 < bins_.size() ? bins_[i + 1] : 0);
    bins_.resize((bins_.size() + 1) / 2);
    width_s_ *= 2;
  }
  const auto bin = static_cast<std::size_t>(at_s / width_s_);
  if (bin >= bins_.size()) bins_.resize(bin + 1);
  ++bins_[bin];
  ++rows_;
  last_s_ = at_s;
}

std::vector<RateWindow> RateWindows::windows(std::size_t count) const {
  std::vector<RateWindow> result;
  if (last_s_ <= 0) return result;
  const std::size_t each = (bins_.size() + count - 1) / count;
  for (std::size_t begin = 0; begin < bins_.size(); begin += each) {
    RateWindow window;
    const std::size_t end = std::min(begin + each, bins_.size());
    for (std::size_t i = begin; i < end; ++i) window.rows += bins_[i];
    window.begin_s = static_cast<double>(begin) * width_s_;
    window.end_s = std::min(static_cast<double>(end) * width_s_, last_s_);
    if (window.end_s > window.begin_s)
      result.push_back(window);
    else if (!result.empty())
      result.back().rows += window.rows;  // the last row alone, at the very edge of a bin
  }
  return result;
}

double RateWindows::quiet_head_s() const {
  constexpr double kQuiet = 0.2, kLeastShare = 0.01;
  const std::size_t least =
      std::max<std::size_t>(1, static_cast<std::size_t>(kLeastShare * static_cast<double>(bins_.size())));
  std::uint64_t before = 0;
  double found = 0;
  for (std::size_t end = 1; end <= bins_.size() / 2; ++end) {
    before += bins_[end - 1];
    const double rate = static_cast<double>(before) / static_cast<double>(end);
    const double rest = static_cast<double>(rows_ - before) / static_cast<double>(bins_.size() - end);
    if (end < least) continue;
    if (rate >= kQuiet * rest) break;  // a lively start and then a silence is no quiet head
    found = static_cast<double>(end) * width_s_;
  }
  return found;
}

}  // namespace poolcast
