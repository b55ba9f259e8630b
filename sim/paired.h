// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// Intervals for the mean of what is drawn anew in each replication.
namespace poolcast {

/// Probability that |T| <= t, t >= 0, where T has Student's distribution with `degrees` >= 1 degrees of freedom: the
/// finite sums of Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
double student_within(double t, std::int64_t degrees);

/// The t with `student_within(t, degrees)` = `confidence`, in (0, 1), by bisection.
double student_quantile(double confidence, std::int64_t degrees);

/// The mean of `values` and the interval that holds the true mean with the given confidence:
///   mean ± t(confidence, n - 1) * s / sqrt(n),   s² = sum (x - mean)² / (n - 1),
/// exact for normal values. One value has a mean and no interval. Paired differences of two systems that meet the same
/// random world are such values (Law, "Simulation Modeling and Analysis", on paired-t intervals).
struct MeanInterval {
  std::int64_t count = 0;
  double mean = 0;
  double deviation = 0;  ///< s; 0 for one value
  double low = 0, high = 0;
  bool has_interval() const { return count > 1; }
};
MeanInterval mean_interval(const std::vector<double>& values, double confidence);

/// The fewest values, of the same mean and deviation, whose interval does not reach `bound`: at least `count`; nothing
/// when the mean stands at the bound, or when it would take more than 10^9.
std::optional<std::int64_t> count_to_decide(const MeanInterval& interval, double bound, double confidence);

}  // namespace poolcast
