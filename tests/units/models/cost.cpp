// SPDX-License-Identifier: Apache-2.0
#include "models/cost.h"

#include <catch2/catch.hpp>

namespace poolcast {
namespace {

std::vector<ReservedCapacity> two_pools() { return {{"a", 2, 8, DollarsPerHour(2)}, {"b", 3, 1, DollarsPerHour(5)}}; }

TEST_CASE("reserved capacity costs devices times price times hours, busy or idle") {
  // a: 16 devices * $2/h * 0.5 h = $16; b: 3 * $5/h * 0.5 h = $7.50.
  const CostReport report = cost(two_pools(), Seconds(1800), {100, 50'000, 40'000});
  REQUIRE(report.lines.size() == 2);
  CHECK(report.lines[0].devices == 16);
  CHECK(report.lines[0].total->value == Approx(16));
  CHECK(report.lines[1].total->value == Approx(7.5));
  CHECK(report.total->value == Approx(23.5));
  CHECK(report.per_hour->value == Approx(47));
  CHECK(report.per_accepted_output->value == Approx(0.235));
  CHECK(report.per_million_output_tokens->value == Approx(470));
  CHECK(report.per_million_accepted_tokens->value == Approx(587.5));
}

TEST_CASE("one pool without a price leaves every sum without one") {
  std::vector<ReservedCapacity> pools = two_pools();
  pools[0].price_per_device.reset();
  const CostReport report = cost(pools, Seconds(3600), {100, 50'000, 40'000});
  CHECK_FALSE(report.lines[0].total);
  CHECK(report.lines[1].total->value == Approx(15));
  CHECK_FALSE(report.total);
  CHECK_FALSE(report.per_hour);
  CHECK_FALSE(report.per_accepted_output);
  CHECK_FALSE(report.per_million_output_tokens);
  CHECK_FALSE(report.per_million_accepted_tokens);
}

TEST_CASE("a price of zero is a price") {
  std::vector<ReservedCapacity> pools = two_pools();
  pools[0].price_per_device = DollarsPerHour(0);
  CHECK(cost(pools, Seconds(3600), {}).total->value == Approx(15));
}

TEST_CASE("nothing accepted means no cost per accepted output, not zero") {
  const CostReport report = cost(two_pools(), Seconds(3600), {0, 50'000, 0});
  CHECK(report.total);
  CHECK_FALSE(report.per_accepted_output);
  CHECK(report.per_million_output_tokens);
  CHECK_FALSE(report.per_million_accepted_tokens);
}

}  // namespace
}  // namespace poolcast
