// SPDX-License-Identifier: Apache-2.0
// Policies that go by what became of earlier requests, by hand-computed decisions.
#include <map>

#include <catch2/catch.hpp>

#include "sim/routing/aliases.h"
#include "sim/routing/pipeline.h"

using namespace poolcast;
using namespace poolcast::routing;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Three idle endpoints.
struct Three {
  Endpoints e;
  Pipeline pipeline;
  std::vector<std::uint32_t> all = {0, 1, 2};

  explicit Three(const std::string& policy, const Value& parameters = {})
      : pipeline(find_alias(policy)->make(parameters), 1, "test") {
    e.reset(3);
    pipeline.bind(e);
  }
  /// A request that took so long and brought so many tokens ends at `end`.
  void answer(std::uint32_t endpoint, double end, double seconds, std::int64_t output, bool completed = true) {
    const auto at = [](double s) { return static_cast<std::int64_t>(s * kSecond); };
    pipeline.answered(endpoint, {at(end - seconds), at(end), 100, output, completed});
  }
  /// How often each is chosen, of 300 requests at this instant.
  std::vector<int> choices(double now) {
    std::vector<int> count(3);
    RequestView view;
    view.now_ns = static_cast<std::int64_t>(now * kSecond);
    for (int i = 0; i < 300; ++i) ++count[*pipeline.decide(view, e, all).endpoint];
    return count;
  }
};

}  // namespace

TEST_CASE("latency-based takes the least time by output token, and those within the buffer alike") {
  for (const auto& [buffer, second] : std::map<double, bool>{{0.0, false}, {0.2, false}, {0.3, true}}) {
    Three three("latency-based", map_value({{"lowest_latency_buffer", number_value(buffer)}}));
    three.answer(0, 10, 4, 100);  // 40 ms a token
    three.answer(1, 10, 5, 100);  // 50 ms: a quarter more
    three.answer(2, 10, 1, 10);   // 100 ms
    const auto count = three.choices(11);
    CHECK(count[0] >= (second ? 100 : 300));
    CHECK((count[1] > 100) == second);
    CHECK(count[2] == 0);
  }
}

TEST_CASE("latency-based tries first what it knows nothing of, and forgets after its time to live") {
  Three three("latency-based", map_value({{"ttl", number_value(60)}}));
  three.answer(0, 10, 4, 100);
  three.answer(1, 40, 1, 100);
  CHECK(three.choices(41) == std::vector<int>{0, 0, 300});
  three.answer(2, 41, 9, 100, false);  // it did not complete, so nothing is learnt
  CHECK(three.choices(42) == std::vector<int>{0, 0, 300});
  three.answer(2, 42, 9, 100);
  CHECK(three.choices(43) == std::vector<int>{0, 300, 0});
  CHECK(three.choices(70) == std::vector<int>{300, 0, 0});  // that of endpoint 0 ended 60 s ago
}

TEST_CASE("latency-based remembers the last requests only") {
  Three three("latency-based", map_value({{"max_latency_list_size", number_value(2)}}));
  for (const std::uint32_t other : {1u, 2u}) three.answer(other, 1, 3, 1);
  for (const double seconds : {9.0, 1.0, 2.0}) three.answer(0, 10, seconds, 1);  // 1.5 s of the last two, 4 s of all
  CHECK(three.choices(11) == std::vector<int>{300, 0, 0});
}

TEST_CASE("least-latency goes by whole answers of the last minute, throughput by their tokens") {
  for (const auto& [policy, expected] :
       std::map<std::string, std::vector<int>>{{"least-latency", {0, 300, 0}}, {"throughput", {300, 0, 0}}}) {
    Three three(policy);
    three.answer(0, 10, 4, 50);                               // 4 s, 150 tokens
    for (int i = 0; i < 2; ++i) three.answer(1, 10, 3, 100);  // 3 s, 400 tokens
    three.answer(2, 10, 5, 900);                              // 5 s, 1,000 tokens
    CHECK(three.choices(11) == expected);
    three.answer(0, 60, 8, 2000);
    three.answer(1, 60, 8, 2000);
    CHECK(three.choices(71) == std::vector<int>{0, 0, 300});  // the others' are forgotten, and that of endpoint 2 too
  }
}
