// SPDX-License-Identifier: Apache-2.0
#include "sim/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/random.h"

using namespace poolcast;

namespace {

/// Durations over eight powers of ten, so that every size of bucket is met.
std::vector<SimTime> wide_samples(std::uint64_t seed, std::size_t count) {
  RandomStream random(seed, "samples");
  std::vector<SimTime> samples(count);
  for (SimTime& sample : samples) sample = std::llround(std::pow(10.0, 12.0 * random.uniform()));
  return samples;
}

SimTime at_rank(const std::vector<SimTime>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

TEST_CASE("An empty histogram answers zero everywhere") {
  const Histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.mean() == 0);
  CHECK(empty.max() == 0);
  CHECK(empty.quantile(0.5) == 0);
  CHECK(empty.count_at_most(1000) == 0);
}

TEST_CASE("Every quantile is within the stated error of the sample at its rank") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  INFO("seed " << seed);
  std::vector<SimTime> samples = wide_samples(seed, 20'000);
  Histogram histogram;
  for (const SimTime sample : samples) histogram.add(sample);
  std::sort(samples.begin(), samples.end());
  for (const double q : {0.0001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0}) {
    const auto exact = static_cast<double>(at_rank(samples, q));
    INFO("q " << q << ", exact " << exact << ", answered " << histogram.quantile(q));
    CHECK(std::abs(static_cast<double>(histogram.quantile(q)) - exact) <= Histogram::kRelativeError * exact);
  }
}

TEST_CASE("Values below 256 ns are answered exactly") {
  Histogram histogram;
  for (SimTime value = 0; value < 256; ++value) histogram.add(value);
  for (int i = 1; i <= 256; ++i) CHECK(histogram.quantile(i / 256.0) == i - 1);
}

TEST_CASE("Buckets follow each other without a gap and never fall") {
  std::size_t last = Histogram::bucket(0);
  CHECK(last == 0);
  for (SimTime value = 1; value < 70'000; ++value) {
    const std::size_t now = Histogram::bucket(value);
    REQUIRE((now == last || now == last + 1));
    last = now;
  }
  CHECK(Histogram::bucket(kNever) < 8192);
}

TEST_CASE("Count, mean and maximum are exact, whatever the bucket") {
  Histogram histogram;
  histogram.add(1'000'000'007, 3);
  histogram.add(9'000'000'001);
  CHECK(histogram.count() == 4);
  CHECK(histogram.max() == 9'000'000'001);
  CHECK(histogram.mean() == (3 * 1'000'000'007.0 + 9'000'000'001.0) / 4);
}

TEST_CASE("A quantile never exceeds the largest sample") {
  Histogram histogram;
  histogram.add(1'000'000, 10);  // the middle of its bucket lies above it
  CHECK(histogram.quantile(1.0) == 1'000'000);
  CHECK(histogram.quantile(0.5) == 1'000'000);
}

TEST_CASE("The mean of many long samples does not overflow") {
  Histogram histogram;
  const SimTime hour = 3600 * kNanosPerSecond;
  histogram.add(hour, 100'000'000'000);
  CHECK(histogram.mean() == static_cast<double>(hour));
}

TEST_CASE("Adding a sample n times, n samples in bulk, and merging parts give one and the same histogram") {
  const std::vector<SimTime> samples = wide_samples(4, 3'000);
  Histogram one_by_one, in_bulk, first, second;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (int n = 0; n < 3; ++n) one_by_one.add(samples[i]);
    in_bulk.add(samples[i], 3);
    (i % 7 == 0 ? first : second).add(samples[i], 3);
  }
  first.merge(second);
  CHECK(one_by_one == in_bulk);
  CHECK(first == in_bulk);
}

TEST_CASE("A run of samples of one bucket equals adding them one by one") {
  Histogram singly, as_run;
  const SimTime base = 1 << 20;  // its bucket is 8192 wide
  std::uint64_t sum = 0;
  for (SimTime i = 0; i < 100; ++i) {
    REQUIRE(Histogram::bucket(base + i) == Histogram::bucket(base));
    singly.add(base + i);
    sum += static_cast<std::uint64_t>(base + i);
  }
  as_run.add_run(Histogram::bucket(base), 100, sum, base + 99);
  CHECK(as_run == singly);
}

TEST_CASE("The count up to a limit is that of the samples, but for the bucket of the limit") {
  std::vector<SimTime> samples = wide_samples(5, 20'000);
  Histogram histogram;
  for (const SimTime sample : samples) histogram.add(sample);
  for (const SimTime limit : {SimTime{0}, SimTime{255}, SimTime{1'000}, SimTime{50'000'000}, kNanosPerSecond, kNever}) {
    const auto below = [&](double bound) {
      return static_cast<std::uint64_t>(std::count_if(
          samples.begin(), samples.end(), [&](SimTime sample) { return static_cast<double>(sample) <= bound; }));
    };
    const auto at = static_cast<double>(limit);
    INFO("limit " << limit);
    CHECK(histogram.count_at_most(limit) >= below(at));
    CHECK(histogram.count_at_most(limit) <= below(at * (1 + 2 * Histogram::kRelativeError)));
  }
}
