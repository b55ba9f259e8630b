// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("under FCFS nobody who waits is overtaken, preemptions, prefix caches and long prompts included") {
  std::size_t seen = 0, waited = 0;
  std::uint64_t preempted = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SimulationSpec spec = random_prefix_world(seed);
    for (PoolSpec& pool : spec.pools) pool.vllm().policy = VllmArgs::Policy::kFcfs;
    Recorder recorder;
    const Report report = simulate(std::move(spec), {&recorder});
    for (const ReplicaReport& r : report.replicas) preempted += r.preemptions;
    // Those of one instant have the order in which their sources were asked, which a record does not tell.
    std::map<std::uint32_t, std::vector<const RequestRecord*>> by_replica;
    for (const RequestRecord& r : recorder.records) {
      if (r.at.first_scheduled != kNever) by_replica[r.replica.value].push_back(&r);
    }
    for (auto& [replica, requests] : by_replica) {
      std::sort(requests.begin(), requests.end(), [](const RequestRecord* a, const RequestRecord* b) {
        return std::tie(a->at.queued, a->at.first_scheduled) < std::tie(b->at.queued, b->at.first_scheduled);
      });
      for (std::size_t i = 1; i < requests.size(); ++i) {
        INFO("world " << seed << ", replica " << replica << ", row " << requests[i]->row);
        REQUIRE(requests[i - 1]->at.first_scheduled <= requests[i]->at.first_scheduled);
        waited += requests[i]->at.first_scheduled > requests[i]->at.queued;
      }
      seen += requests.size();
    }
  }
  CHECK(seen > 20'000);
  CHECK(waited > 10'000);
  CHECK(preempted > 1000);
}

TEST_CASE("every request of a random world ends, and what completed has all its tokens") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SimulationSpec spec = random_disaggregated_world(seed);
    spec.stall_preemptions = 1'000'000;
    Recorder recorder;
    const Report report = simulate(std::move(spec), {&recorder});
    INFO("world " << seed);
    for (const RequestRecord& r : recorder.records) {
      if (r.outcome != Outcome::kCompleted) continue;
      REQUIRE(r.output_tokens == r.output_target);
      REQUIRE(r.at.last_token == r.ended);
    }
    const Outcomes outcomes = report.total().outcomes;
    std::uint64_t ended = 0;
    for (const std::uint64_t n : outcomes.ended) ended += n;
    REQUIRE(ended == outcomes.offered);
  }
}
