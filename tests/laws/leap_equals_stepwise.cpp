// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/random.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// Runs the world that `make()` makes in leaps and in single steps, and fails where they differ. Returns the report of
/// the leaps.
template <class Make>
Report same_bits(std::uint64_t seed, Make make) {
  Report report;
  const std::string leap = fingerprint_of(make(), false, &report);
  const std::string stepwise = fingerprint_of(make(), true);
  INFO("world " << seed);
  if (leap != stepwise) FAIL(first_difference(leap, stepwise));
  return report;
}

}  // namespace

TEST_CASE("leaps and single steps give the same bits on 400 random worlds") {
  std::uint64_t preempted = 0, leaps = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("repeat with: POOLCAST_WORLD=" << seed << " laws \"one world\"");
    const Report report = same_bits(seed, [seed] { return random_world(seed); });
    leaps += report.leaps;
    for (const ReplicaReport& r : report.replicas) preempted += r.preemptions;
  }
  // The worlds do hold what the law is about.
  CHECK(preempted > 2000);
  CHECK(leaps > 2000);
}

TEST_CASE("leaps and single steps give the same bits on 400 random worlds with prefix caches") {
  std::uint64_t preempted = 0, leaps = 0;
  std::int64_t hits = 0, resumed_hits = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Report report = same_bits(seed, [seed] { return random_prefix_world(seed); });
    leaps += report.leaps;
    for (const ReplicaReport& r : report.replicas) {
      preempted += r.preemptions;
      hits += r.prefix.hits;
      resumed_hits += r.prefix.resumed_hits;
    }
  }
  CHECK(preempted > 2000);
  CHECK(leaps > 2000);
  CHECK(hits > 100'000);
  CHECK(resumed_hits > 1000);
}

TEST_CASE("leaps and single steps give the same bits on 300 random worlds with prefill and decode apart") {
  std::uint64_t transfers = 0, preempted = 0, leaps = 0, lost = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Report report = same_bits(seed, [seed] { return random_disaggregated_world(seed); });
    transfers += report.transfers;
    leaps += report.leaps;
    const Outcomes outcomes = report.total().outcomes;
    lost += outcomes.count(Outcome::kTimedOut) + outcomes.count(Outcome::kCancelled);
    for (const ReplicaReport& r : report.replicas) preempted += r.preemptions;
  }
  CHECK(transfers > 10'000);
  CHECK(preempted > 1000);
  CHECK(leaps > 1000);
  CHECK(lost > 300);
}

TEST_CASE("leaps and single steps give the same bits on 300 random worlds whose tokens are sent in bundles") {
  std::uint64_t messages = 0, gaps = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto world = [seed](std::int64_t cap) {
      SimulationSpec spec = seed % 2 == 0 ? random_prefix_world(seed) : random_disaggregated_world(seed);
      send_in_bundles(spec, seed);
      for (PoolSpec& pool : spec.pools) pool.vllm().stream_interval = std::min(cap, pool.vllm().stream_interval);
      return spec;
    };
    const Report report = same_bits(seed, [&] { return world(INT64_MAX); });
    Report single;
    INFO("world " << seed);
    fingerprint_of(world(1), false, &single);
    for (const Metric m : {Metric::kTtft, Metric::kTpot, Metric::kE2e}) {
      CHECK(report.total().latencies[m] == single.total().latencies[m]);
    }
    messages += report.total().latencies[Metric::kItl].count();
    gaps += single.total().latencies[Metric::kItl].count();
  }
  CHECK(messages > 100'000);
  CHECK(messages < gaps / 2);
}

TEST_CASE("leaps and single steps give the same bits on 300 random worlds of pipelines and data-parallel ranks") {
  std::uint64_t preempted = 0, leaps = 0;
  SimTime busy = 0, idle = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Report report = same_bits(seed, [seed] { return random_layout_world(seed); });
    leaps += report.leaps;
    for (const ReplicaReport& r : report.replicas) {
      preempted += r.preemptions;
      if (r.stage_work == 0) continue;
      busy += r.busy;
      idle += r.busy - r.stage_work;
    }
  }
  CHECK(preempted > 2000);
  CHECK(leaps > 2000);
  CHECK(idle > busy / 20);
  CHECK(idle < busy);
}

TEST_CASE("leaps and single steps give the same bits on 400 random worlds that plan ahead") {
  std::uint64_t preempted = 0, leaps = 0, transfers = 0;
  std::int64_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto world = [seed] {
      SimulationSpec spec = seed % 4 == 0 ? random_disaggregated_world(seed) : random_prefix_world(seed);
      plan_ahead(spec, seed);
      return spec;
    };
    const Report report = same_bits(seed, world);
    leaps += report.leaps;
    transfers += report.transfers;
    for (const ReplicaReport& r : report.replicas) {
      preempted += r.preemptions;
      hits += r.prefix.hits;
    }
  }
  CHECK(preempted > 2000);
  CHECK(leaps > 2000);
  CHECK(hits > 100'000);
  CHECK(transfers > 2000);
}

namespace {

/// Prompts that are computed in steps of whole milliseconds on the first pool, and decoded in such steps, planned
/// ahead, on the second, between which KV moves at once: ends of steps of both meet.
SimulationSpec meeting_world(std::uint64_t seed) {
  RandomStream random(seed, "meeting world");
  const auto between = [&random](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  SimulationSpec spec = one_pool(fixed_step(1e-3 * static_cast<double>(between(1, 5))));
  PoolSpec& prefill = spec.pools[0];
  prefill.vllm().max_num_batched_tokens = between(16, 200);
  prefill.vllm().async_scheduling = random.below(2) == 0;
  prefill.kv_bytes_per_token = 1;
  PoolSpec decode = prefill;
  prefill.role = PoolRole::kPrefill;
  prefill.vllm().num_gpu_blocks = between(10, 60);
  decode.role = PoolRole::kDecode;
  decode.name = "decode";
  decode.curve = fixed_step(1e-3 * static_cast<double>(between(1, 3)));
  decode.replicas = static_cast<std::int32_t>(between(1, 3));
  decode.vllm().async_scheduling = true;
  decode.vllm().num_gpu_blocks = between(20, 200);
  prefill.node = spec.topology.add_node("prefill");
  decode.node = spec.topology.add_node("decode");
  spec.topology.connect({prefill.node, decode.node, BytesPerSecond(1e18), Seconds(0)});
  spec.pools.push_back(decode);
  spec.models[0].implementations.push_back({.pool = PoolId(1u)});
  spec.routing.pool.resize(2);
  std::vector<Arrival> arrivals;
  double now = 0;
  for (int i = 0; i < 60; ++i) {
    now += 1e-3 * static_cast<double>(between(0, 8));
    arrivals.push_back(arrival(now, between(1, 120), between(1, 60)));
  }
  add_list(spec, std::move(arrivals));
  return spec;
}

}  // namespace

TEST_CASE(
    "leaps and single steps give the same bits on 300 random worlds where ends of prefill and decode steps meet") {
  std::uint64_t transfers = 0, leaps = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Report report = same_bits(seed, [seed] { return meeting_world(seed); });
    transfers += report.transfers;
    leaps += report.leaps;
  }
  CHECK(transfers > 10'000);
  CHECK(leaps > 10'000);
}

TEST_CASE("leaps and single steps give the same bits on 400 random worlds that keep KV on their hosts") {
  std::uint64_t preempted = 0, leaps = 0, loads = 0;
  std::int64_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto world = [seed] {
      SimulationSpec spec = random_prefix_world(seed);
      offload(spec, seed);
      if (seed % 3 == 0) plan_ahead(spec, seed / 3);
      if (seed % 3 == 1) speculate(spec, seed);
      return spec;
    };
    const Report report = same_bits(seed, world);
    leaps += report.leaps;
    loads += report.host_loads;
    for (const ReplicaReport& r : report.replicas) {
      preempted += r.preemptions;
      hits += r.prefix.host_hits;
    }
  }
  CHECK(preempted > 2000);
  CHECK(leaps > 1000);
  CHECK(loads > 1000);
  CHECK(hits > 10'000);
}

TEST_CASE("the laws hold on 300 random worlds with speculation, and leaps change nothing") {
  std::uint64_t preempted = 0;
  SpeculationStats stats;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto world = [seed] {
      SimulationSpec spec = seed % 4 == 0 ? random_disaggregated_world(seed) : random_prefix_world(seed);
      speculate(spec, seed);
      if (seed % 5 == 0) send_in_bundles(spec, seed);
      return spec;
    };
    const Report report = same_bits(seed, world);
    for (const ReplicaReport& r : report.replicas) {
      preempted += r.preemptions;
      stats.drafted += r.speculation.drafted;
      stats.accepted += r.speculation.accepted;
    }
  }
  CHECK(preempted > 1000);
  CHECK(stats.accepted > 100'000);
  CHECK(stats.accepted < stats.drafted);
}

TEST_CASE("one world", "[.]") {
  const char* seed = std::getenv("POOLCAST_WORLD");
  const std::uint64_t world = seed ? std::strtoull(seed, nullptr, 10) : 1;
  same_bits(world, [world] { return random_world(world); });
  SUCCEED();
}
