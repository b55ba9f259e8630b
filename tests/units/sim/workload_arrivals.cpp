// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "sim/arrival_process.h"
#include "tests/support/goodness_of_fit.h"

using namespace poolcast;
using namespace poolcast::test;

namespace {

std::vector<double> instants(const ArrivalSpec& spec, double until, const char* name) {
  ArrivalProcess process(spec, RandomStream(21, name));
  std::vector<double> times;
  SimTime last = 0;
  for (SimTime t = process.next(); t != kNever && to_seconds(t).value < until; t = process.next()) {
    REQUIRE(t >= last);
    last = t;
    times.push_back(to_seconds(t).value);
  }
  return times;
}

std::vector<double> gaps(const std::vector<double>& times) {
  std::vector<double> result;
  for (std::size_t i = 1; i < times.size(); ++i) result.push_back(times[i] - times[i - 1]);
  return result;
}

ArrivalSpec spec_of(ArrivalSpec::Process process, double rate, double cv = 1) {
  ArrivalSpec spec;
  spec.process = process;
  spec.rate_per_s = rate;
  spec.cv = cv;
  return spec;
}

}  // namespace

TEST_CASE("Poisson arrivals have exponential gaps and the rate that was asked for") {
  const auto times = instants(spec_of(ArrivalSpec::Process::kPoisson, 50), 4000, "poisson");
  CHECK(std::abs(static_cast<double>(times.size()) - 200'000) < 4 * std::sqrt(200'000.0));
  CHECK(kolmogorov_smirnov(gaps(times), [](double x) { return -std::expm1(-x * 50); }) < 1.95);
}

TEST_CASE("Gamma arrivals have the rate and the cv that were asked for") {
  for (double cv : {0.25, 2.0}) {
    const auto times = instants(spec_of(ArrivalSpec::Process::kGamma, 20, cv), 20'000, "gamma");
    const auto between = gaps(times);
    CHECK(1 / mean_of(between) == Approx(20).epsilon(4 * cv / std::sqrt(400'000.0)));
    CHECK(cv_of(between) == Approx(cv).epsilon(0.02));
  }
  const auto even = gaps(instants(spec_of(ArrivalSpec::Process::kGamma, 20, 0), 100, "gamma"));
  CHECK(cv_of(even) < 1e-6);
}

TEST_CASE("Deterministic arrivals do not drift") {
  const auto times = instants(spec_of(ArrivalSpec::Process::kDeterministic, 3), 100'000, "even");
  REQUIRE(times.size() == 300'000);
  CHECK(times[0] == 0);
  CHECK(times[299'997] == Approx(99'999).epsilon(1e-15));
}

TEST_CASE("On-off arrivals come only while on, in the share of time that is on") {
  ArrivalSpec spec = spec_of(ArrivalSpec::Process::kOnOff, 100);
  spec.on = Seconds(5), spec.off = Seconds(15);
  const auto times = instants(spec, 200'000, "on-off");
  // 10,000 cycles of 20 s with 500 arrivals each; the spread of the count comes from the lengths of the cycles.
  CHECK(static_cast<double>(times.size()) == Approx(200'000.0 * 25).epsilon(0.03));
  double silences = 0;
  for (double gap : gaps(times)) silences += gap > 0.2;  // e^-20 while on
  CHECK(silences == Approx(10'000 * std::exp(-0.2 / 15)).epsilon(0.04));
  spec.off = Seconds(0);
  CHECK(static_cast<double>(instants(spec, 1000, "always on").size()) == Approx(100'000).epsilon(0.02));
}

TEST_CASE("Piecewise arrivals follow their rates, and a last rate of 0 ends them") {
  ArrivalSpec spec = spec_of(ArrivalSpec::Process::kPiecewise, 0);
  spec.pieces = {{Seconds(100), 10}, {Seconds(1100), 0}, {Seconds(1200), 200}, {Seconds(1300), 30}, {Seconds(2300), 0}};
  const auto times = instants(spec, 1e9, "piecewise");
  std::vector<double> counts(6);
  for (double t : times) ++counts[t < 100 ? 0 : t < 1100 ? 1 : t < 1200 ? 2 : t < 1300 ? 3 : t < 2300 ? 4 : 5];
  const std::vector<double> expected = {0, 10'000, 0, 20'000, 30'000, 0};
  for (std::size_t i = 0; i < counts.size(); ++i)
    CHECK(std::abs(counts[i] - expected[i]) <= 4 * std::sqrt(expected[i]));
}

TEST_CASE("Piecewise arrivals carry on across pieces that are shorter than a gap") {
  ArrivalSpec spec = spec_of(ArrivalSpec::Process::kPiecewise, 0);
  for (int i = 0; i < 20'000; ++i) spec.pieces.emplace_back(Seconds(i), i % 2 == 0 ? 0.5 : 1.5);
  spec.pieces.emplace_back(Seconds(20'000), 0);
  const auto times = instants(spec, 1e9, "short pieces");
  CHECK(std::abs(static_cast<double>(times.size()) - 20'000) < 4 * std::sqrt(20'000.0));
}

TEST_CASE("Diurnal arrivals follow the sine and have the mean rate over whole periods") {
  ArrivalSpec spec = spec_of(ArrivalSpec::Process::kDiurnal, 40);
  spec.period = Seconds(1000), spec.amplitude = 0.8;
  const auto times = instants(spec, 20'000, "diurnal");
  CHECK(std::abs(static_cast<double>(times.size()) - 800'000) < 4 * std::sqrt(800'000.0));
  const double two_pi = 2 * std::acos(-1.0);
  std::vector<double> counts(50), expected(50);
  for (double t : times) ++counts[static_cast<std::size_t>(std::fmod(t, 1000) / 20)];
  for (std::size_t i = 0; i < 50; ++i) {
    const auto integral = [&](double t) { return t - 0.8 * 1000 / two_pi * std::sin(two_pi * t / 1000); };
    const double begin = 20.0 * static_cast<double>(i);
    expected[i] = 20 * 40 * (integral(begin + 20) - integral(begin));
  }
  CHECK(std::abs(chi_square_deviations(counts, expected)) < 3.3);
}

TEST_CASE("A rate of 0 brings nothing") {
  CHECK(instants(spec_of(ArrivalSpec::Process::kPoisson, 0), 1e9, "none").empty());
  CHECK(instants(spec_of(ArrivalSpec::Process::kPiecewise, 5), 1e9, "none").empty());
}
