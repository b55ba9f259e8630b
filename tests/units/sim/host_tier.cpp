// SPDX-License-Identifier: Apache-2.0
// KV blocks that are kept on the host: which are there, by a plain list, and what a load takes, by hand.
#include "sim/schedulers/host_tier.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>

#include "sim/random.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

/// Blocks of 16 tokens, eight of them usable; a token's KV has 1,000 bytes.
SimulationSpec world(std::int64_t host_blocks, double bytes_per_second) {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  PoolSpec& pool = spec.pools[0];
  pool.kv_bytes_per_token = 1000;
  pool.host_bandwidth = BytesPerSecond(bytes_per_second);
  pool.vllm().num_gpu_blocks = 9;
  pool.vllm().enable_prefix_caching = true;
  pool.vllm().host_blocks = host_blocks;
  return spec;
}

Arrival with_prompt(double at_s, std::uint64_t content, std::int64_t tokens) {
  Arrival a = arrival(at_s, tokens, 1);
  a.content.prompt = {{content, 0, tokens}};
  return a;
}

std::vector<RequestRecord> run(SimulationSpec spec, Report& report) {
  Recorder recorder;
  report = simulate(std::move(spec), {&recorder});
  return recorder.records;
}

}  // namespace

TEST_CASE("the host keeps the blocks that were used last") {
  RandomStream random(3, "host tier");
  HostTier tier(40);
  std::list<std::uint64_t> plain;  // used last in front
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t hash = 2 + random.below(120) * 0x9e3779b97f4a7c15ULL;
    REQUIRE(tier.holds(hash) == (std::find(plain.begin(), plain.end(), hash) != plain.end()));
    if (random.uniform() < 0.5) continue;
    tier.keep(hash);
    plain.remove(hash);
    plain.push_front(hash);
    if (plain.size() > 40) plain.pop_back();
    REQUIRE(tier.size() == static_cast<std::int64_t>(plain.size()));
  }
}

TEST_CASE("a prompt that the device has lost is loaded from the host, but for its last token") {
  SimulationSpec spec = world(100, 480e3);
  // The second takes all eight blocks. 48 tokens of 1,000 bytes take 100 ms to load, then one token is computed.
  add_list(spec, {with_prompt(0, 1, 48), with_prompt(1, 2, 128), with_prompt(2, 1, 48)});
  Report report;
  const auto r = run(std::move(spec), report);
  CHECK(r.at(2).at.first_scheduled == 2100 * kMs);
  CHECK(r.at(2).at.first_token == 2110 * kMs);
  CHECK(r.at(2).cached_tokens == 47);
  CHECK(report.replicas[0].prefix.hits == 0);
  CHECK(report.replicas[0].prefix.host_hits == 48);
  CHECK(report.replicas[0].scheduled_tokens == 48 + 128 + 1);
  CHECK(report.host_loads == 1);
  CHECK(report.host_loaded_bytes == 48'000);
  CHECK(report.host_load_time == 100 * kMs);
}

TEST_CASE("what the device still holds is not loaded, and what follows it is") {
  SimulationSpec spec = world(100, 320e3);
  // The second takes five blocks that were never used, then the last two of the first prompt.
  add_list(spec, {with_prompt(0, 1, 48), with_prompt(1, 2, 112), with_prompt(2, 1, 60)});
  Report report;
  const auto r = run(std::move(spec), report);
  CHECK(report.replicas[0].prefix.hits == 16);
  CHECK(report.replicas[0].prefix.host_hits == 32);
  CHECK(r.at(2).at.first_token == 2110 * kMs);  // 32 tokens in 100 ms, then 12 are computed
  CHECK(report.replicas[0].scheduled_tokens == 48 + 112 + 12);
}

TEST_CASE("loads of one replica share its link, and other requests are served meanwhile") {
  SimulationSpec spec = world(100, 480e3);
  spec.pools[0].vllm().num_gpu_blocks = 11;
  add_list(spec, {with_prompt(0, 1, 48), with_prompt(1, 2, 160), with_prompt(2, 1, 48), with_prompt(2, 1, 48),
                  with_prompt(2.02, 3, 16)});
  Report report;
  const auto r = run(std::move(spec), report);
  CHECK(r.at(2).row == 4);
  CHECK(r.at(2).at.first_token == 2030 * kMs);
  CHECK(r.at(3).at.first_token == 2210 * kMs);
  CHECK(r.at(4).at.first_token == 2210 * kMs);
  CHECK(report.host_load_time == 400 * kMs);
}

TEST_CASE("a host with room for two blocks keeps the head of a prompt") {
  for (const std::int64_t blocks : {0, 2}) {
    SimulationSpec spec = world(blocks, 320e3);
    // The second request shares nothing and is of one block short of the device, too short to be kept in full.
    add_list(spec, {with_prompt(0, 1, 48), arrival(1, 128, 1), with_prompt(2, 1, 48)});
    Report report;
    run(std::move(spec), report);
    CHECK(report.replicas[0].prefix.host_hits == 0);  // eight blocks went over the two
  }
  SimulationSpec spec = world(10, 320e3);
  add_list(spec, {with_prompt(0, 1, 48), arrival(1, 128, 1), with_prompt(2, 1, 48)});
  Report report;
  run(std::move(spec), report);
  CHECK(report.replicas[0].prefix.host_hits == 32);
}

TEST_CASE("a request that is given up while its KV is loaded leaves nothing behind") {
  SimulationSpec spec = world(100, 480e3);
  spec.classes[0].patience = 50 * kMs;
  add_list(spec, {with_prompt(0, 1, 48), with_prompt(1, 2, 128), with_prompt(2, 1, 48), with_prompt(3, 4, 128)});
  Report report;
  const auto r = run(std::move(spec), report);
  CHECK(r.at(2).outcome == Outcome::kCancelled);
  CHECK(r.at(2).ended == 2050 * kMs);
  CHECK(r.at(3).outcome == Outcome::kCompleted);
  CHECK(report.host_load_time == 50 * kMs);
}
