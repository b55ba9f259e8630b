// SPDX-License-Identifier: Apache-2.0
// Pools with endpoint pickers: what a picker sees of a replica must not depend on how its steps were cut into leaps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/decision_log.h"
#include "sim/random.h"
#include "sim/routing/lua_plugins.h"
#include "sim/routing/pipeline.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using World = SimulationSpec (*)(std::uint64_t seed);

routing::Value script() {
  return routing::map_value({{"script", routing::text_value(R"(
    local turn = 0
    function score(request, endpoint, pool)
      turn = turn + 1
      return 1 / (1 + endpoint.waiting + endpoint.running) + endpoint.kv_usage / 3 + math.random() / 100 + turn % 3 / 9
    end)")}});
}

/// A pipeline that reads every column. KV use alone in every second world: nothing else then hides a wrong value.
std::shared_ptr<const routing::PipelineSpec> picker(std::uint64_t seed) {
  routing::PipelineSpec spec;
  std::vector<const char*> types = {"kv-cache-utilization-scorer"};
  if (seed % 2 == 0) {
    types = {"prefix-cache-affinity-filter", "queue-scorer",      "running-requests-size-scorer",
             "kv-cache-utilization-scorer",  "token-load-scorer", "prefix-cache-scorer",
             "active-request-scorer",        "no-hit-lru-scorer", "session-affinity-scorer"};
  }
  for (const char* type : types) spec.plugins.push_back({type, type, {}});
  if (seed % 2 == 0 && routing::lua_built_in()) spec.plugins.push_back({"mine", "lua-scorer", script()});
  if (seed % 4 == 0) spec.plugins.push_back({"weighted-random-picker", "weighted-random-picker", {}});
  complete_pipeline(spec);
  return std::make_shared<routing::PipelineSpec>(spec);
}

SimulationSpec with_pickers(World world, std::uint64_t seed) {
  SimulationSpec spec = world(seed);
  for (PolicySpec& policy : spec.routing.pool) policy.pipeline = picker(seed);
  for (PoolSpec& pool : spec.pools) {
    pool.replicas = std::max(pool.replicas, 3);
    if (seed % 3 == 0 && std::holds_alternative<VllmArgs>(pool.engine)) pool.ranks = 2;
  }
  return spec;
}

void check(World world, std::uint64_t worlds) {
  std::uint64_t leaps = 0, elsewhere = 0;
  for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
    Report report;
    const std::string leap = fingerprint_of(with_pickers(world, seed), false, &report);
    const std::string stepwise = fingerprint_of(with_pickers(world, seed), true);
    INFO("world " << seed);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    DecisionLog log;
    log.source = SourceId(0U);
    log.row = seed;
    SimulationSpec explained = with_pickers(world, seed);
    explained.log = &log;
    if (fingerprint_of(std::move(explained), false) != leap) FAIL("explaining a request changes the run");
    leaps += report.leaps;
    SimulationSpec plain = with_pickers(world, seed);
    for (PolicySpec& policy : plain.routing.pool) policy.pipeline = nullptr;
    elsewhere += fingerprint_of(std::move(plain), false) != leap;
  }
  CHECK(leaps > worlds);
  CHECK(elsewhere > worlds / 2);  // the pickers do decide
}

SimulationSpec sglang_world(std::uint64_t seed) {
  SimulationSpec spec = random_prefix_world(seed);
  RandomStream random(seed, "sglang");
  for (PoolSpec& pool : spec.pools) {
    SglangArgs args;
    args.page_size = random.below(2) == 0 ? 1 : 16;
    args.context_length = 4096;
    args.max_total_num_tokens = (20 + static_cast<std::int64_t>(random.below(200))) * 16;
    args.disable_overlap_schedule = random.below(2) == 0;
    args.enable_mixed_chunk = random.below(2) == 0;
    pool.engine = args;
  }
  return spec;
}

SimulationSpec tensorrt_world(std::uint64_t seed) {
  SimulationSpec spec = random_prefix_world(seed);
  RandomStream random(seed, "tensorrt-llm");
  for (PoolSpec& pool : spec.pools) {
    TensorrtLlmArgs args;
    args.tokens_per_block = random.below(2) == 0 ? 4 : 32;
    args.num_blocks = 20 + static_cast<std::int64_t>(random.below(200));
    args.disable_overlap_scheduler = random.below(2) == 0;
    pool.engine = args;
  }
  return spec;
}

}  // namespace

TEST_CASE("leaps and single steps give the same bits where endpoint pickers choose the replicas") {
  check(random_world, 120);
  check(random_prefix_world, 120);
  check(random_disaggregated_world, 60);
  check(sglang_world, 250);
  check(tensorrt_world, 60);
}
