// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "sim/length_sampler.h"
#include "tests/support/goodness_of_fit.h"

using namespace poolcast;
using namespace poolcast::test;

namespace {

std::vector<double> lengths(const LengthSpec& spec, int n, const char* name) {
  const LengthSampler sampler(spec);
  RandomStream random(11, name);
  std::vector<double> samples;
  for (int i = 0; i < n; ++i) samples.push_back(static_cast<double>(sampler.sample(random)));
  return samples;
}

LengthSpec spec_of(LengthSpec::Kind kind, double mean, double cv = 0) {
  LengthSpec spec;
  spec.kind = kind;
  spec.mean = mean;
  spec.cv = cv;
  return spec;
}

/// Counts of integers against the continuous distribution rounded to the nearest, the ends clamped.
template <class Cdf>
double deviations(const std::vector<double>& samples, const LengthSpec& spec, Cdf cdf) {
  const auto cells = static_cast<std::size_t>(spec.max - spec.min + 1);
  std::vector<double> counts(cells), expected(cells);
  for (double x : samples) ++counts[static_cast<std::size_t>(x) - static_cast<std::size_t>(spec.min)];
  for (std::size_t i = 0; i < cells; ++i) {
    const double tokens = static_cast<double>(spec.min) + static_cast<double>(i);
    const double low = i == 0 ? 0 : cdf(tokens - 0.5), high = i + 1 == cells ? 1 : cdf(tokens + 0.5);
    expected[i] = (high - low) * static_cast<double>(samples.size());
  }
  return chi_square_deviations(counts, expected);
}

}  // namespace

TEST_CASE("Lognormal lengths have the mean and the cv that were asked for") {
  const auto samples = lengths(spec_of(LengthSpec::Kind::kLognormal, 1024, 0.8), 500'000, "lognormal");
  CHECK(mean_of(samples) == Approx(1024).epsilon(0.005));
  CHECK(cv_of(samples) == Approx(0.8).epsilon(0.015));
}

TEST_CASE("Lognormal lengths are rounded and clamped, cell by cell") {
  LengthSpec spec = spec_of(LengthSpec::Kind::kLognormal, 60, 0.7);
  spec.min = 10, spec.max = 150;
  const double variance = std::log1p(0.49), mu = std::log(60) - variance / 2;
  const auto samples = lengths(spec, 400'000, "lognormal cells");
  CHECK(std::abs(deviations(samples, spec,
                            [&](double x) { return normal_cdf((std::log(x) - mu) / std::sqrt(variance)); })) < 3.3);
}

TEST_CASE("Exponential lengths are rounded and clamped, cell by cell") {
  LengthSpec spec = spec_of(LengthSpec::Kind::kExponential, 40);
  spec.max = 200;
  const auto samples = lengths(spec, 400'000, "exponential cells");
  CHECK(std::abs(deviations(samples, spec, [](double x) { return -std::expm1(-x / 40); })) < 3.3);
}

TEST_CASE("Uniform lengths take every integer of their range alike") {
  LengthSpec spec = spec_of(LengthSpec::Kind::kUniform, 0);
  spec.min = 5, spec.max = 24;
  std::vector<double> counts(20), expected(20, 10'000);
  for (double x : lengths(spec, 200'000, "uniform")) ++counts.at(static_cast<std::size_t>(x) - 5);
  CHECK(std::abs(chi_square_deviations(counts, expected)) < 3.3);
}

TEST_CASE("Empirical lengths come from their table by weight") {
  LengthSpec spec = spec_of(LengthSpec::Kind::kEmpirical, 0);
  spec.table = {{8, 1}, {16, 0}, {32, 3}, {4096, 4}};
  spec.max = 2048;
  std::vector<double> counts(3), expected = {25'000, 75'000, 100'000};
  for (double x : lengths(spec, 200'000, "empirical")) ++counts.at(x == 8 ? 0 : x == 32 ? 1 : x == 2048 ? 2 : 9);
  CHECK(std::abs(chi_square_deviations(counts, expected)) < 3.3);
}

TEST_CASE("Fixed lengths are rounded, and huge samples do not overflow") {
  CHECK(lengths(spec_of(LengthSpec::Kind::kFixed, 12.5), 1, "fixed")[0] == 13);
  for (double x : lengths(spec_of(LengthSpec::Kind::kLognormal, 1e15, 30), 1000, "huge")) {
    CHECK(x >= 1);
    CHECK(x <= static_cast<double>(LengthSampler::kLongest));
  }
}

TEST_CASE("Think times have the mean and the cv that were asked for") {
  RandomStream random(12, "think");
  const auto times = [&](ThinkSpec::Kind kind, double mean, double cv) {
    const ThinkSampler sampler(ThinkSpec{kind, Seconds(mean), cv});
    std::vector<double> samples;
    for (int i = 0; i < 200'000; ++i) samples.push_back(to_seconds(sampler.sample(random)).value);
    return samples;
  };
  CHECK(mean_of(times(ThinkSpec::Kind::kFixed, 2, 0)) == Approx(2));
  const auto exponential = times(ThinkSpec::Kind::kExponential, 2, 0);
  CHECK(mean_of(exponential) == Approx(2).epsilon(0.01));
  CHECK(cv_of(exponential) == Approx(1).epsilon(0.01));
  const auto lognormal = times(ThinkSpec::Kind::kLognormal, 5, 0.6);
  CHECK(mean_of(lognormal) == Approx(5).epsilon(0.01));
  CHECK(cv_of(lognormal) == Approx(0.6).epsilon(0.02));
  CHECK(times(ThinkSpec::Kind::kLognormal, 0, 1)[0] == 0);
}
