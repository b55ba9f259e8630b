// SPDX-License-Identifier: Apache-2.0
#include "sim/evaluation.h"

#include <cmath>
#include <numbers>

#include "sim/portable_math.h"

namespace poolcast {
namespace {

/// Probability that a standard normal value is at most z >= 0, by the series 1/2 + phi(z) (z + z³/3 + z⁵/(3*5) + …)
/// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.11).
double normal_at_most(double z) {
  double term = z, sum = z;
  for (int n = 1; term > sum * 1e-17; ++n) {
    term *= z * z / (2 * n + 1);
    sum += term;
  }
  return 0.5 + portable_exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) * sum;
}

/// The z that a standard normal value is below with this probability, in [0.5, 1), by bisection.
double normal_quantile(double probability) {
  double low = 0, high = 8.5;  // beyond it the probability is 1 in a double
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_at_most(middle) < probability ? low : high) = middle;
  }
  return high;
}

}  // namespace

double wilson_low(double share, double samples, double confidence) {
  const double z = confidence > 0.5 ? normal_quantile(confidence) : 0;
  const double z2 = z * z / samples;
  const double half = z * std::sqrt(share * (1 - share) / samples + z2 / (4 * samples));
  return (share + z2 / 2 - half) / (1 + z2);
}

}  // namespace poolcast
