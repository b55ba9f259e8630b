// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

/// Tests of samples against the distribution that they should come from. Seeds in tests are fixed, so a passing test
/// passes for ever; the levels say how surprising the fixed sample may be.
namespace poolcast::test {

/// Kolmogorov-Smirnov: sqrt(n) times the largest distance between the empirical and the given distribution function.
/// Above 1.95 in one of a thousand good samples.
template <class Cdf>
double kolmogorov_smirnov(std::vector<double> samples, Cdf cdf) {
  std::sort(samples.begin(), samples.end());
  const double n = static_cast<double>(samples.size());
  double distance = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double f = cdf(samples[i]);
    distance = std::max({distance, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return distance * std::sqrt(n);
}

/// Chi-square of counts against expected counts, as a number of standard normal deviations (Wilson, Hilferty 1931).
/// Above 3.1 in one of a thousand good samples. Cells with an expectation below 5 are left out.
inline double chi_square_deviations(const std::vector<double>& counts, const std::vector<double>& expected) {
  double statistic = 0;
  int cells = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (expected[i] < 5) continue;
    statistic += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
    ++cells;
  }
  const double freedom = cells - 1;
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(statistic / freedom) - (1 - spread)) / std::sqrt(spread);
}

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

inline double mean_of(const std::vector<double>& samples) {
  double sum = 0;
  for (double x : samples) sum += x;
  return sum / static_cast<double>(samples.size());
}

/// Coefficient of variation.
inline double cv_of(const std::vector<double>& samples) {
  const double mean = mean_of(samples);
  double sum = 0;
  for (double x : samples) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(samples.size())) / mean;
}

}  // namespace poolcast::test
