// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

/// Statistics of repeated timings that assume nothing about their distribution.
namespace poolcast::calibration {

/// Values are in the unit of the samples.
struct SampleSummary {
  std::size_t count = 0;
  double median = 0;  ///< mean of the middle two where the count is even
  double mad = 0;     ///< median absolute deviation from the median, unscaled
  double low = 0;     ///< confidence interval of the median; the whole range with fewer than 6 samples
  double high = 0;

  double half_width() const { return (high - low) / 2; }  ///< of the interval
};

/// The interval goes from the l-th smallest sample to the l-th largest, l the largest number for which
///   P(Binomial(n, 1/2) < l) <= (1 - level) / 2:
/// the median lies outside only if fewer than l samples fall on one side of it (order statistics, distribution-free:
/// David and Nagaraja, Order Statistics, 2003, section 7.1). Samples must not be empty.
SampleSummary summarise(std::vector<double> samples, double level = 0.95);

/// The k-th smallest of n sorted samples bounds the interval, k counted from 0.
std::size_t interval_rank(std::size_t n, double level);

/// When a timing is repeated often enough, and what to think of it.
struct StopRule {
  std::size_t least = 7;  ///< samples before anything is decided; with 6 the interval is the whole range
  std::size_t most = 60;  ///< samples
  double narrow = 0.02;   ///< half width of the interval over the median
  double budget_s = 1;    ///< of one shape, set-up included
  double noisy = 0.05;    ///< above this half width a finished timing is marked

  bool done(const SampleSummary& so_far, double spent_s) const;
  /// Marked, not hidden: too wide an interval, or half of the samples further than 10 % from the median.
  bool is_noisy(const SampleSummary& finished) const;
};

/// Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996). Not empty; 0 <= q <= 1.
double quantile(std::vector<double> values, double q);

}  // namespace poolcast::calibration
