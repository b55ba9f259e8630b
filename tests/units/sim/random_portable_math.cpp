// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "sim/portable_math.h"
#include "sim/random.h"

using namespace poolcast;

namespace {

double units_in_last_place(double value, double reference) {
  const double size = std::abs(reference);
  return std::abs(value - reference) / (std::nextafter(size, 1e308) - size);
}

}  // namespace

TEST_CASE("Portable exp and log agree with the C library to 2 units in the last place") {
  RandomStream random(1, "portable");
  double worst_exp = 0, worst_log = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = (random.uniform() - 0.5) * (i % 2 == 0 ? 1400 : 10);
    worst_exp = std::max(worst_exp, units_in_last_place(portable_exp(x), std::exp(x)));
    const double y = i % 3 == 0 ? std::exp(x / 2) : 1 + (random.uniform() - 0.5) * 0.1;
    worst_log = std::max(worst_log, units_in_last_place(portable_log(y), std::log(y)));
  }
  CHECK(worst_exp <= 2);
  CHECK(worst_log <= 2);
}

TEST_CASE("Portable functions are exact where it matters and sane at the ends") {
  CHECK(portable_exp(0) == 1);
  CHECK(portable_log(1) == 0);
  CHECK(portable_log(0) == -std::numeric_limits<double>::infinity());
  CHECK(portable_exp(-1e300) == 0);
  CHECK(std::isinf(portable_exp(1e300)));
  CHECK(std::isnan(portable_exp(std::nan(""))));
  CHECK(std::isnan(portable_log(std::nan(""))));
  CHECK(portable_pow(0, 2) == 0);
  CHECK(portable_pow(9, 0.5) == Approx(3).epsilon(1e-14));
}

TEST_CASE("Portable cosine of turns agrees with the C library") {
  const double two_pi = 2 * std::acos(-1.0);
  for (double x = -3; x < 3; x += 0.001237) CHECK(std::abs(portable_cos_turns(x) - std::cos(two_pi * x)) < 5e-15);
  CHECK(portable_cos_turns(0) == 1);
  CHECK(portable_cos_turns(0.5) == -1);
}
