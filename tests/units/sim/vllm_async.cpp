// SPDX-License-Identifier: Apache-2.0
// Asynchronous scheduling of vLLM by hand: a step takes 10 ms, and its plan is made when the one before it begins.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

SimulationSpec world(bool async) {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.pools[0].vllm().async_scheduling = async;
  return spec;
}

}  // namespace

TEST_CASE("planned ahead, a request waits one step more, for its own plan or for a slot or blocks that come free") {
  for (const bool by_slots : {true, false}) {
    for (const bool async : {false, true}) {
      SimulationSpec spec = world(async);
      VllmArgs& args = spec.pools[0].vllm();
      if (by_slots) {
        args.max_num_seqs = 2;
      } else {
        args.num_gpu_blocks = 3;  // two, of 16 tokens
      }
      // The first runs in steps 1 to 6. The second ends with step 2; the third gets its place in step 3, or planned
      // ahead in step 4. The fourth comes during step 3 (26 ms), and its place comes free with the end of the third.
      add_list(spec, {arrival(0, 10, 6), arrival(0, 10, 2), arrival(0, 10, 1), arrival(0.026, 10, 1)});
      const auto r = records_by_row(std::move(spec));
      INFO("by slots " << by_slots << ", async " << async);
      CHECK(r[0].at.last_token == 60 * kMs);
      CHECK(r[1].at.last_token == 20 * kMs);
      CHECK(r[1].ended == 20 * kMs);
      CHECK(r[2].at.first_scheduled == (async ? 30 : 20) * kMs);
      CHECK(r[2].ended == (async ? 40 : 30) * kMs);
      CHECK(r[3].at.first_scheduled == (async ? 50 : 30) * kMs);
    }
  }
}

TEST_CASE("planned ahead, a request that comes during step k is in step k + 2, and at once where nothing runs") {
  SimulationSpec spec = world(true);
  // The first runs from 0 to 50 ms. 12 ms is in step 2; at 65 ms the engine is idle.
  add_list(spec, {arrival(0, 10, 5), arrival(0.012, 10, 1), arrival(0.065, 10, 1)});
  const auto r = records_by_row(std::move(spec));
  CHECK(r[0].ended == 50 * kMs);
  CHECK(r[1].at.first_scheduled == 30 * kMs);
  CHECK(r[2].at.first_scheduled == 65 * kMs);
}

TEST_CASE("planned ahead, an engine with nothing else to do does not wait for the place of what has ended") {
  SimulationSpec spec = world(true);
  spec.pools[0].vllm().max_num_seqs = 1;
  // The plan of step 3 is empty, for the slot is taken; when step 2 ends the next is planned and begins at once.
  add_list(spec, {arrival(0, 10, 2), arrival(0.005, 10, 2)});
  const auto r = records_by_row(std::move(spec));
  CHECK(r[0].ended == 20 * kMs);
  CHECK(r[1].at.first_scheduled == 20 * kMs);
  CHECK(r[1].ended == 40 * kMs);
}

TEST_CASE("planned ahead, the block of a request that has just ended goes to one that needs it without a preemption") {
  SimulationSpec spec = world(true);
  VllmArgs& args = spec.pools[0].vllm();
  args.block_size = 4;
  args.num_gpu_blocks = 4;  // three can be used
  args.scheduler_reserve_full_isl = false;
  // The first holds two blocks from step 2 on and needs a third in step 6; the second ends with step 5 and is the
  // victim of the plan of step 6, made before that was known: it loses nothing, and nobody is preempted.
  add_list(spec, {arrival(0, 4, 9), arrival(0, 1, 4)});
  Report report;
  const auto r = records_by_row(std::move(spec), &report);
  CHECK(r[0].ended == 90 * kMs);
  CHECK(r[1].ended == 40 * kMs);
  CHECK(report.replicas[0].preemptions == 0);
}
