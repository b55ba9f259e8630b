// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/paired.h"
#include "sim/random.h"

using namespace poolcast;

TEST_CASE("quantiles of Student's distribution are those of the published tables") {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, two-sided 95 % and 99 %.
  CHECK(student_quantile(0.95, 1) == Approx(12.706).epsilon(1e-4));
  CHECK(student_quantile(0.95, 2) == Approx(4.303).epsilon(1e-4));
  CHECK(student_quantile(0.95, 9) == Approx(2.262).epsilon(1e-4));
  CHECK(student_quantile(0.95, 30) == Approx(2.042).epsilon(2e-4));
  CHECK(student_quantile(0.99, 5) == Approx(4.032).epsilon(1e-4));
  CHECK(student_quantile(0.99, 100) == Approx(2.626).epsilon(1e-4));
  CHECK(student_quantile(0.95, 1'000'000) == Approx(1.960).epsilon(1e-3));
  CHECK(student_within(0, 7) == 0);
  CHECK(student_within(1, 1) == Approx(0.5).epsilon(1e-14));  // Cauchy
  CHECK(student_within(2, 2) == Approx(2 / std::sqrt(6.0)).epsilon(1e-14));
}

TEST_CASE("the interval of a mean is worked out by hand") {
  const MeanInterval m = mean_interval({1, 2, 3, 4, 5}, 0.95);
  CHECK(m.mean == 3);
  CHECK(m.deviation == Approx(std::sqrt(2.5)));
  CHECK(m.high - m.mean == Approx(2.7764451 * std::sqrt(2.5 / 5)).epsilon(1e-6));
  CHECK(m.mean - m.low == Approx(m.high - m.mean));
  CHECK_FALSE(mean_interval({7}, 0.95).has_interval());
}

TEST_CASE("values that are alike have an interval of exactly no width") {
  const MeanInterval m = mean_interval({0.1, 0.1, 0.1}, 0.95);
  CHECK(m.low == 0.1);
  CHECK(m.high == 0.1);
}

TEST_CASE("the count that decides is the least one whose interval does not reach the bound") {
  const MeanInterval m = mean_interval({0.9, 1.1, 1.3, 0.7}, 0.95);  // s = 0.258
  const auto count = count_to_decide(m, 1.1, 0.95);
  REQUIRE(count);
  const auto half = [&](std::int64_t n) {
    return student_quantile(0.95, n - 1) * m.deviation / std::sqrt(static_cast<double>(n));
  };
  CHECK(half(*count) < 0.1);
  CHECK(half(*count - 1) >= 0.1);
  CHECK_FALSE(count_to_decide(m, m.mean, 0.95));
}

TEST_CASE("a 90 % interval of five normal values holds their mean nine times of ten") {
  RandomStream random(1, "test/coverage");
  int held = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 5; ++k) values.push_back(3 + 2 * random.normal());
    const MeanInterval m = mean_interval(values, 0.9);
    held += m.low <= 3 && 3 <= m.high;
  }
  CHECK(std::abs(held - 9000) < 4 * 30);  // four standard deviations of the binomial
}
