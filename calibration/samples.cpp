// SPDX-License-Identifier: Apache-2.0
#include "calibration/samples.h"

#include <algorithm>
#include <cmath>

namespace poolcast::calibration {

std::size_t interval_rank(std::size_t n, double level) {
  double probability = std::pow(0.5, static_cast<double>(n));  // of exactly k samples on one side, k = 0
  double below = 0;
  std::size_t rank = 0;
  for (std::size_t k = 0; 2 * k < n; ++k) {
    below += probability;  // P(Binomial < k + 1)
    if (below > (1 - level) / 2) break;
    rank = k;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return rank;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

SampleSummary summarise(std::vector<double> samples, double level) {
  std::sort(samples.begin(), samples.end());
  SampleSummary s;
  s.count = samples.size();
  s.median = quantile(samples, 0.5);
  const std::size_t rank = interval_rank(s.count, level);
  s.low = samples[rank];
  s.high = samples[s.count - 1 - rank];
  for (double& x : samples) x = std::abs(x - s.median);
  s.mad = quantile(std::move(samples), 0.5);
  return s;
}

bool StopRule::done(const SampleSummary& so_far, double spent_s) const {
  if (so_far.count >= most || spent_s >= budget_s) return true;
  return so_far.count >= least && so_far.half_width() <= narrow * so_far.median;
}

bool StopRule::is_noisy(const SampleSummary& finished) const {
  return finished.count < least || finished.half_width() > noisy * finished.median ||
         finished.mad > 0.1 * finished.median;
}

}  // namespace poolcast::calibration
