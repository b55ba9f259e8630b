// SPDX-License-Identifier: Apache-2.0
#include "scenarios/units.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/random.h"

using namespace poolcast;

namespace {

YamlNode node(const std::string& text) { return *parse_yaml("f.yaml", "a: " + text).find("a"); }

}  // namespace

TEST_CASE("quantities are read in the unit that they name") {
  CHECK(read_seconds(node("400 ms")).value == 0.4);
  CHECK(read_seconds(node("400ms")).value == 0.4);
  CHECK(read_seconds(node("30 min")).value == 1800);
  CHECK(read_seconds(node("1 h")).value == 3600);
  CHECK(read_seconds(node("1.5 d")).value == 129600);
  CHECK(read_seconds(node("20 us")).value == 20e-6);
  CHECK(read_seconds(node("20 µs")).value == 20e-6);
  CHECK(read_seconds(node("7 ns")).value == 7e-9);
  CHECK(read_bytes(node("80 GB")).value == 80e9);
  CHECK(read_bytes(node("16 GiB")).value == 16.0 * 1024 * 1024 * 1024);
  CHECK(read_bytes_per_second(node("3.35 TB/s")).value == 3.35e12);
  CHECK(read_bytes_per_second(node("400 Gbit/s")).value == 50e9);
  CHECK(read_flops_per_second(node("989 TFLOP/s")).value == 989e12);
  CHECK(read_watts(node("1.2 kW")).value == 1200);
  CHECK(read_rate_per_s(node("5/s")) == 5);
  CHECK(read_rate_per_s(node("300/min")) == 5);
  CHECK(read_rate_per_s(node("1800 /h")) == 0.5);
  CHECK(read_share(node("10 %")) == 0.1);
  CHECK(read_share(node("0.92")) == 0.92);
}

TEST_CASE("a plain zero needs no unit, another number does") {
  CHECK(read_seconds(node("0")).value == 0);
  CHECK(read_bytes(node("0")).value == 0);
  CHECK_THROWS_AS(read_seconds(node("1")), ConfigError);
  CHECK_THROWS_AS(read_bytes(node("80")), ConfigError);
}

TEST_CASE("a price is per device unless it says otherwise") {
  CHECK(read_price(node("$2.10/h")).amount.value == 2.1);
  CHECK_FALSE(read_price(node("$2.10/h")).per_replica);
  CHECK_FALSE(read_price(node("$2.10/h per device")).per_replica);
  CHECK(read_price(node("$16.80/h per replica")).per_replica);
  for (const char* bad : {"2.10", "$/h", "$2.10", "$2.10/min", "$2.10/h per hour", "$nan/h", "$-1/h", "$1e999/h"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(read_price(node(bad)), ConfigError);
  }
}

TEST_CASE("quantities are spelt in the shortest way") {
  CHECK(to_text(Seconds(0.4)) == "0.4 s");
  CHECK(to_text(Seconds(0.025)) == "25 ms");
  CHECK(to_text(Seconds(2)) == "2 s");
  CHECK(to_text(Seconds(90)) == "90 s");
  CHECK(to_text(Seconds(3600)) == "1 h");
  CHECK(to_text(Seconds(20e-6)) == "20 us");
  CHECK(to_text(Seconds(0)) == "0 s");
  CHECK(to_text(Bytes(80e9)) == "80 GB");
  CHECK(to_text(Bytes(85899345920)) == "80 GiB");
  CHECK(to_text(BytesPerSecond(3.35e12)) == "3.35 TB/s");
  CHECK(to_text(FlopsPerSecond(989e12)) == "989 TFLOP/s");
  CHECK(to_text(Watts(700)) == "700 W");
  CHECK(to_text(DollarsPerHour(2.1)) == "$2.1/h");
  CHECK(rate_text(5) == "5/s");
  CHECK(rate_text(0.5) == "0.5/s");
  CHECK(time_text(1'500'000'000) == "1500 ms");
  CHECK(time_text(1) == "1 ns");
  CHECK(time_text(0) == "0 s");
  CHECK(time_text(86'400'000'000'000) == "1 d");
  CHECK(time_text(kNever) == "none");
}

TEST_CASE("what is spelt reads back as exactly the same number") {
  const std::uint64_t seed = 20261130;
  INFO("seed " << seed);
  RandomStream random(seed, "quantities");
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(80)) - 30);
    const double rounded = std::round(value * 1000) / 1000;
    for (double each : {value, rounded}) {
      CAPTURE(each);
      if (each <= kLongestDuration_s) REQUIRE(read_seconds(node(to_text(Seconds(each)))).value == each);
      REQUIRE(read_bytes(node(to_text(Bytes(each)))).value == each);
      REQUIRE(read_bytes_per_second(node(to_text(BytesPerSecond(each)))).value == each);
      REQUIRE(read_flops_per_second(node(to_text(FlopsPerSecond(each)))).value == each);
      REQUIRE(read_watts(node(to_text(Watts(each)))).value == each);
      REQUIRE(read_rate_per_s(node(rate_text(each))) == each);
      REQUIRE(read_price(node(to_text(DollarsPerHour(each)))).amount.value == each);
      REQUIRE(node(number_text(each)).number() == each);
    }
    const SimTime time = static_cast<SimTime>(random.below(1'000'000'000'000'000));  // 11 days in ns
    REQUIRE(to_sim_time(read_seconds(node(time_text(time)))) == time);
  }
}
