// SPDX-License-Identifier: Apache-2.0
#include "sim/paired.h"

#include <algorithm>
#include <cmath>

namespace poolcast {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Of x >= 0, from +, -, *, / and square roots alone, so that it has the same bits everywhere: half angles, then the
/// power series.
double arc_tangent(double x) {
  double factor = 1;
  while (x > 0.1) {
    x = x / (1 + std::sqrt(1 + x * x));
    factor *= 2;
  }
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = 1.0 / n - x * x * sum;
  return factor * x * sum;
}

}  // namespace

double student_within(double t, std::int64_t degrees) {
  // Beyond this the distribution is the normal one to more digits than anyone reads, and the sum would grow long.
  constexpr std::int64_t kMostDegrees = 10'000;
  const std::int64_t n = std::min(degrees, kMostDegrees);
  const double root = std::sqrt(static_cast<double>(n));
  const double hypotenuse = std::sqrt(static_cast<double>(n) + t * t);
  const double sine = t / hypotenuse, cosine = root / hypotenuse;
  const bool odd = n % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (std::int64_t k = odd ? 1 : 0; k <= n - 2; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  return odd ? 2 / kPi * (arc_tangent(t / root) + sine * sum) : sine * sum;
}

double student_quantile(double confidence, std::int64_t degrees) {
  double low = 0, high = 1;
  while (student_within(high, degrees) < confidence && high < 1e15) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (student_within(middle, degrees) < confidence ? low : high) = middle;
  }
  return high;
}

MeanInterval mean_interval(const std::vector<double>& values, double confidence) {
  MeanInterval result;
  result.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double x : values) sum += x;
  const bool alike = std::all_of(values.begin(), values.end(), [&](double x) { return x == values[0]; });
  result.mean = result.low = result.high = alike ? values[0] : sum / n;
  if (alike || values.size() < 2) return result;
  double squares = 0;
  for (const double x : values) squares += (x - result.mean) * (x - result.mean);
  result.deviation = std::sqrt(squares / (n - 1));
  const double half = student_quantile(confidence, result.count - 1) * result.deviation / std::sqrt(n);
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

std::optional<std::int64_t> count_to_decide(const MeanInterval& interval, double bound, double confidence) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const double distance = std::abs(interval.mean - bound);
  const auto reaches = [&](std::int64_t n) {
    const double half = student_quantile(confidence, n - 1) * interval.deviation / std::sqrt(static_cast<double>(n));
    return half >= distance;
  };
  std::int64_t high = std::max<std::int64_t>(interval.count, 2), low = high - 1;
  while (reaches(high)) {
    if (high >= kMost || distance == 0) return std::nullopt;
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (reaches(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace poolcast
