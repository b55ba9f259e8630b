// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "sim/alias_table.h"
#include "sim/random.h"
#include "sim/ziggurat.h"
#include "tests/support/goodness_of_fit.h"

using namespace poolcast;
using namespace poolcast::test;

namespace {

template <class Draw>
std::vector<double> draws(int n, Draw draw) {
  std::vector<double> samples;
  for (int i = 0; i < n; ++i) samples.push_back(draw());
  return samples;
}

}  // namespace

TEST_CASE("A stream depends on its seed, its name and its index alone") {
  RandomStream a(7, "arrivals"), again(7, "arrivals"), other_name(7, "arrivals/x"), other_seed(8, "arrivals");
  RandomStream first(7, "arrivals", 0), second(7, "arrivals", 1);
  std::set<std::uint64_t> values;
  const std::uint64_t drawn = a.next();
  CHECK(drawn == again.next());
  for (RandomStream* stream : {&other_name, &other_seed, &first, &second}) values.insert(stream->next());
  values.insert(drawn);
  CHECK(values.size() == 5);
}

TEST_CASE("The ziggurats close at height 1: all layers have the same area") {
  for (const Ziggurat* z : {&kNormalZiggurat, &kExponentialZiggurat}) {
    const double area = z->x[0] * z->y[1];
    for (std::size_t i = 1; i < Ziggurat::kLayers; ++i) {
      CHECK(z->x[i] > z->x[i + 1]);
      CHECK(z->x[i] * (z->y[i + 1] - z->y[i]) == Approx(area).epsilon(1e-9));
    }
  }
  // The area includes the tail, by its integral.
  const double r = kNormalTail;
  CHECK(kNormalZiggurat.x[0] * kNormalZiggurat.y[1] ==
        Approx(r * std::exp(-r * r / 2) + std::sqrt(std::acos(-1.0) / 2) * std::erfc(r / std::sqrt(2.0))));
  const double t = kExponentialTail;
  CHECK(kExponentialZiggurat.x[0] * kExponentialZiggurat.y[1] == Approx((t + 1) * std::exp(-t)));
}

TEST_CASE("Uniform integers below a bound are alike") {
  RandomStream random(1, "below");
  std::vector<double> counts(7), expected(7, 100'000);
  for (int i = 0; i < 700'000; ++i) ++counts[random.below(7)];
  CHECK(std::abs(chi_square_deviations(counts, expected)) < 3.3);
}

TEST_CASE("Normal samples fit the normal distribution, in the tail too") {
  RandomStream random(2, "normal");
  const auto samples = draws(1'000'000, [&] { return random.normal(); });
  CHECK(kolmogorov_smirnov(samples, normal_cdf) < 1.95);
  double beyond_tail = 0, beyond_four = 0, positive = 0;
  for (int i = 0; i < 4'000'000; ++i) {
    const double x = random.normal();
    beyond_tail += std::abs(x) > kNormalTail;
    beyond_four += std::abs(x) > 4;
    positive += x > 0;
  }
  const double tail = 4e6 * 2 * normal_cdf(-kNormalTail), four = 4e6 * 2 * normal_cdf(-4);
  CHECK(std::abs(beyond_tail - tail) < 4 * std::sqrt(tail));
  CHECK(std::abs(beyond_four - four) < 4 * std::sqrt(four));
  CHECK(std::abs(positive - 2e6) < 4 * 1000);
}

TEST_CASE("Exponential samples fit the exponential distribution, in the tail too") {
  RandomStream random(3, "exponential");
  const auto samples = draws(1'000'000, [&] { return random.exponential(2.5); });
  CHECK(kolmogorov_smirnov(samples, [](double x) { return -std::expm1(-x / 2.5); }) < 1.95);
  double beyond = 0;
  for (int i = 0; i < 4'000'000; ++i) beyond += random.exponential(1) > kExponentialTail + 1;
  const double expected = 4e6 * std::exp(-kExponentialTail - 1);
  CHECK(std::abs(beyond - expected) < 4 * std::sqrt(expected));
}

TEST_CASE("Gamma samples fit the gamma distribution on both sides of shape 1") {
  RandomStream random(4, "gamma");
  const auto half = draws(300'000, [&] { return random.gamma(0.5, 2); });
  CHECK(kolmogorov_smirnov(half, [](double x) { return std::erf(std::sqrt(x / 2)); }) < 1.95);
  const auto one = draws(300'000, [&] { return random.gamma(1, 3); });
  CHECK(kolmogorov_smirnov(one, [](double x) { return -std::expm1(-x / 3); }) < 1.95);
  const auto three = draws(300'000, [&] { return random.gamma(3, 1); });
  CHECK(kolmogorov_smirnov(three, [](double x) { return 1 - std::exp(-x) * (1 + x + x * x / 2); }) < 1.95);
}

TEST_CASE("An alias table draws by weight and never draws a weight of 0") {
  const std::vector<double> weights = {3, 0, 1, 0.5, 5.5, 0, 2e-6};
  const AliasTable table(weights);
  RandomStream random(5, "alias");
  std::vector<double> counts(weights.size()), expected(weights.size());
  for (int i = 0; i < 1'000'000; ++i) ++counts[table.draw(random)];
  for (std::size_t i = 0; i < weights.size(); ++i) expected[i] = weights[i] / 10.000002 * 1e6;
  CHECK(counts[1] == 0);
  CHECK(counts[5] == 0);
  CHECK(std::abs(chi_square_deviations(counts, expected)) < 3.3);
}

TEST_CASE("Rounding does not bring an entry of weight 0 within reach of an alias table") {
  RandomStream random(6, "alias zero");
  for (int n = 2; n < 300; ++n) {
    std::vector<double> weights(static_cast<std::size_t>(n), 0.1);
    weights[0] = 0;
    for (std::size_t i = 1; i < weights.size(); ++i) weights[i] += 0.7 * random.uniform();
    const AliasTable table(weights);
    for (int i = 0; i < 20 * n; ++i) REQUIRE(table.draw(random) != 0);
  }
}
