// SPDX-License-Identifier: Apache-2.0
#include "calibration/samples.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace poolcast::calibration;

TEST_CASE("median, spread and quantiles of a few numbers") {
  const SampleSummary s = summarise({5, 1, 3, 2, 100});
  CHECK(s.count == 5);
  CHECK(s.median == 3);
  CHECK(s.mad == 2);  // deviations 2, 2, 0, 1, 97
  CHECK(s.low == 1);  // five samples: the range, which covers the median with 1 - 2 / 32
  CHECK(s.high == 100);
  CHECK(summarise({1, 2, 3, 4}).median == 2.5);
  CHECK(quantile({10, 20, 30}, 0.95) == Approx(29));
  CHECK(summarise({7}).high == 7);
}

TEST_CASE("ranks of the interval are those of the binomial table") {
  // Two-sided 95 %: n = 6 -> smallest and largest; 9 -> second; 20 -> sixth; 100 -> fortieth (counted from 1).
  CHECK(interval_rank(5, 0.95) == 0);
  CHECK(interval_rank(6, 0.95) == 0);
  CHECK(interval_rank(9, 0.95) == 1);
  CHECK(interval_rank(20, 0.95) == 5);
  CHECK(interval_rank(100, 0.95) == 39);
}

TEST_CASE("the interval covers the median of a skewed distribution as often as it says") {
  std::mt19937_64 random(4711);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> x;
    for (int i = 0; i < 15; ++i) x.push_back(-std::log(1 - static_cast<double>(random() >> 11U) * 0x1p-53));
    const SampleSummary s = summarise(x);
    covered += s.low <= std::log(2.0) && std::log(2.0) <= s.high;
  }
  // 15 samples: 1 - 2 P(Binomial(15, 1/2) < 4) = 0.9648.
  CHECK(covered > 0.95 * kTrials);
  CHECK(covered < 0.98 * kTrials);
}

TEST_CASE("measuring stops when the interval is narrow, when there are enough samples or when the budget ends") {
  const StopRule rule;
  const auto summary = [](std::size_t n, double width) { return SampleSummary{n, 1, 0.01, 1 - width, 1 + width}; };
  CHECK_FALSE(rule.done(summary(6, 0.001), 0));
  CHECK(rule.done(summary(7, 0.0199), 0));
  CHECK_FALSE(rule.done(summary(7, 0.021), 0));
  CHECK(rule.done(summary(60, 0.5), 0));
  CHECK(rule.done(summary(3, 0.5), 1));
  CHECK_FALSE(rule.is_noisy(summary(7, 0.049)));
  CHECK(rule.is_noisy(summary(7, 0.06)));
  CHECK(rule.is_noisy(summary(3, 0.01)));
  CHECK(rule.is_noisy({20, 1, 0.2, 0.99, 1.01}));
}
