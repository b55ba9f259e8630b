// SPDX-License-Identifier: Apache-2.0
// Endpoint pickers in a run: what they see of replicas, and what becomes of requests.
#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "sim/routing/aliases.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::shared_ptr<const routing::PipelineSpec> pipeline_of(std::vector<routing::PluginSpec> plugins) {
  routing::PipelineSpec spec;
  spec.plugins = std::move(plugins);
  complete_pipeline(spec);
  return std::make_shared<routing::PipelineSpec>(spec);
}

std::vector<RequestRecord> run(std::shared_ptr<const routing::PipelineSpec> pipeline, std::int32_t replicas,
                               std::vector<Arrival> arrivals) {
  SimulationSpec spec = one_pool(fixed_step(0.01), replicas);
  spec.routing.pool[0].pipeline = std::move(pipeline);
  add_list(spec, std::move(arrivals));
  return records_by_row(std::move(spec));
}

}  // namespace

TEST_CASE("requests that share a prefix go to one replica by the prefix scorer") {
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 30; ++i) {
    arrivals.push_back(arrival(0.5 * i, 200, 2));
    arrivals.back().content.prompt = {{static_cast<std::uint64_t>(1 + i % 5), 0, 160}};
  }
  const auto records = run(pipeline_of({{"prefix-cache-scorer", "prefix-cache-scorer", {}}}), 8, arrivals);
  std::set<std::uint32_t> used;
  for (std::size_t i = 5; i < records.size(); ++i) {
    CHECK(records[i].replica == records[i % 5].replica);
    used.insert(records[i].replica.value);
  }
  CHECK(used.size() > 1);
}

TEST_CASE("a request that the filters leave no replica is rejected as saturated, and the count in flight goes down") {
  const auto one_each = pipeline_of(
      {{"detector", "concurrency-detector", routing::map_value({{"maxConcurrency", routing::number_value(1)}})},
       {"random", "random-picker", {}}});
  auto spec = *one_each;
  spec.refs = {{0, 1}, {1, 1}};
  const auto records = run(std::make_shared<routing::PipelineSpec>(spec), 2,
                           {arrival(0, 100, 10), arrival(0.01, 100, 10), arrival(0.02, 100, 10), arrival(5, 100, 10)});
  REQUIRE(records.size() == 4);
  CHECK(records[0].replica != records[1].replica);
  CHECK(records[2].outcome == Outcome::kRejected);
  CHECK(records[2].reason == Reason::kSaturated);
  CHECK(records[3].outcome == Outcome::kCompleted);
}

TEST_CASE("a picker sees the KV use of this instant, in the middle of a leap too") {
  const auto kv = pipeline_of({{"kv-cache-utilization-scorer", "kv-cache-utilization-scorer", {}}});
  // One replica decodes a request of 400 tokens, the other three of 50: 400 + n and 150 + 3 n after n steps of 10 ms.
  std::vector<Arrival> arrivals = {arrival(0, 400, 500)};
  for (int i = 0; i < 3; ++i) arrivals.push_back(arrival(0.02 * (i + 1), 50, 500));
  const auto probed = [&](double at_s) {
    std::vector<Arrival> all = arrivals;
    all.push_back(arrival(at_s, 10, 1));
    const auto records = run(kv, 2, all);
    for (std::size_t i = 1; i < 4; ++i) REQUIRE(records[i].replica != records[0].replica);
    return records[4].replica == records[0].replica;
  };
  CHECK_FALSE(probed(1.0));
  CHECK(probed(2.0));
}

TEST_CASE("a session stays where it began by the session scorer") {
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 40; ++i) {
    arrivals.push_back(arrival(0.2 * i, 50, 2));
    arrivals.back().session = static_cast<std::uint64_t>(i % 10);
  }
  const auto records = run(pipeline_of({{"session-affinity-scorer", "session-affinity-scorer", {}}}), 6, arrivals);
  for (std::size_t i = 10; i < records.size(); ++i) CHECK(records[i].replica == records[i % 10].replica);
}

TEST_CASE("policies of other products run under their names") {
  // No request has a session or a known prompt, and none has ended before the last one comes.
  // Of replicas that are all busy, the one that began last stays the least busy.
  const std::set<std::string_view> kByChance = {"consistent-hashing", "latency-based",     "least-busy-time",
                                                "least-latency",      "least-utilization", "manual",
                                                "prefix-hash",        "session-affinity",  "throughput"};
  const auto& aliases = routing::policy_aliases();
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    INFO(aliases[i].name);
    if (i > 0) CHECK(aliases[i - 1].name < aliases[i].name);
    std::vector<Arrival> arrivals;
    for (int r = 0; r < 20; ++r) arrivals.push_back(arrival(0.01 * r, 100, 50));
    const auto records = run(std::make_shared<routing::PipelineSpec>(aliases[i].make()), 4, arrivals);
    std::vector<int> counts(4);
    for (const RequestRecord& r : records) ++counts[r.replica.value];
    const int most = *std::max_element(counts.begin(), counts.end());
    if (aliases[i].name == "always-busiest") {
      CHECK(most >= 19);  // all but the first, which had no busiest to go to
    } else if (aliases[i].name.substr(0, 12) == "power-of-two") {
      CHECK(most <= 9);
    } else if (kByChance.count(aliases[i].name) > 0) {
      CHECK(most < 20);
    } else {
      CHECK(most == 5);  // 20 alike requests over 4 replicas
    }
  }
}
