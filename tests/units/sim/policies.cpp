// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "sim/policies/registry.h"

using namespace poolcast;

namespace {

/// How often each of four candidates is chosen in `draws` decisions on an unchanging state.
std::array<int, 4> shares(const char* policy, std::vector<std::int64_t> load, std::vector<double> weight,
                          std::vector<std::uint32_t> open, int draws) {
  const auto p = make_policy(policy, 11, "test");
  std::array<int, 4> counts{};
  for (int i = 0; i < draws; ++i) ++counts[p->choose({load, weight, open})];
  return counts;
}

const std::vector<double> kEven{1, 1, 1, 1};
const std::vector<std::uint32_t> kAll{0, 1, 2, 3};

/// Chi-square of counts against equal shares; 16.27 is its 99.9 % point for three degrees of freedom.
double chi_square(const std::array<int, 4>& counts) {
  const double expected = std::accumulate(counts.begin(), counts.end(), 0) / 4.0;
  double sum = 0;
  for (const int c : counts) sum += (c - expected) * (c - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("the table of policies is sorted, and every entry can be made") {
  const auto& table = policy_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    CHECK(make_policy(table[i].name, 1, "x") != nullptr);
    if (i > 0) CHECK(table[i - 1].name < table[i].name);
  }
  CHECK(make_policy("least-requests", 1, "x") == nullptr);
}

TEST_CASE("round-robin gives each candidate its turn and passes over closed ones") {
  const auto p = make_policy("round-robin", 1, "test");
  const std::vector<std::int64_t> load{9, 0, 0, 0};
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 5; ++i) order.push_back(p->choose({load, kEven, kAll}));
  CHECK(order == std::vector<std::uint32_t>{0, 1, 2, 3, 0});
  const std::vector<std::uint32_t> some{0, 2, 3};
  CHECK(p->choose({load, kEven, some}) == 2);
  CHECK(p->choose({load, kEven, some}) == 3);
  CHECK(p->choose({load, kEven, some}) == 0);
  CHECK(p->choose({load, kEven, kAll}) == 1);
}

TEST_CASE("least-request takes the least loaded, and spreads ties evenly") {
  CHECK(shares("least-request", {5, 3, 4, 9}, kEven, kAll, 100) == std::array<int, 4>{0, 100, 0, 0});
  const auto counts = shares("least-request", {0, 0, 0, 0}, kEven, kAll, 4000);
  INFO(counts[0] << "/" << counts[1] << "/" << counts[2] << "/" << counts[3]);
  CHECK(chi_square(counts) < 16.27);
  const auto two = shares("least-request", {7, 2, 8, 2}, kEven, kAll, 1000);
  CHECK(two[1] + two[3] == 1000);
  CHECK(std::abs(two[1] - 500) < 80);
}

TEST_CASE("least-request weighs the load") {
  // 6 requests on a candidate of weight 4 press less than 2 on one of weight 1.
  CHECK(shares("least-request", {2, 6, 9, 9}, {1, 4, 1, 1}, kAll, 10)[1] == 10);
}

TEST_CASE("power-of-two never takes the most loaded of distinct loads, and takes the least with chance one half") {
  const auto counts = shares("power-of-two", {1, 2, 3, 4}, kEven, kAll, 12'000);
  // Pairs: 0 wins 3 of 6, 1 wins 2, 2 wins 1, 3 none.
  CHECK(counts[3] == 0);
  CHECK(std::abs(counts[0] - 6000) < 200);
  CHECK(std::abs(counts[1] - 4000) < 200);
  CHECK(chi_square(shares("power-of-two", {5, 5, 5, 5}, kEven, kAll, 4000)) < 16.27);
}

TEST_CASE("random ignores load") { CHECK(chi_square(shares("random", {100, 0, 3, 1}, kEven, kAll, 4000)) < 16.27); }

TEST_CASE("weighted follows the weights among the open candidates; zero takes nothing") {
  const auto counts = shares("weighted", {0, 0, 0, 0}, {95, 5, 0, 0}, kAll, 20'000);
  CHECK(counts[2] + counts[3] == 0);
  CHECK(std::abs(counts[1] - 1000) < 4 * std::sqrt(20'000 * 0.05 * 0.95));
  const auto without_first = shares("weighted", {0, 0, 0, 0}, {95, 5, 15, 0}, {1, 2, 3}, 8000);
  CHECK(without_first[0] == 0);
  CHECK(std::abs(without_first[1] - 2000) < 4 * std::sqrt(8000 * 0.25 * 0.75));
}
