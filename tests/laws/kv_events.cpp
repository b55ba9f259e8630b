// SPDX-License-Identifier: Apache-2.0
// Routers that know from KV events what lies in which prefix cache: what they know must not depend on how steps were
// cut into leaps, and must be what the engines themselves find.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "sim/decision_log.h"
#include "sim/random.h"
#include "sim/routing/pipeline.h"
#include "sim/schedulers/registry.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using World = SimulationSpec (*)(std::uint64_t seed);
using Picker = std::shared_ptr<const routing::PipelineSpec>;

constexpr SimTime kMs = 1'000'000;

Picker pipeline(std::vector<routing::PluginSpec> plugins) {
  routing::PipelineSpec spec;
  spec.plugins = std::move(plugins);
  complete_pipeline(spec);
  return std::make_shared<routing::PipelineSpec>(spec);
}

/// By the match alone; by a figure that is another one for each match; beside the approximate index and loads.
Picker picker(std::uint64_t seed) {
  const auto any_match = routing::map_value(
      {{"expression",
        routing::text_value("(endpoint.match_blocks * 5 + floor(request.prompt_tokens / 7)) % 11 / 11")}});
  if (seed % 3 == 0) return pipeline({{"precise", "precise-prefix-cache-scorer", {}}});
  if (seed % 3 == 1)
    return pipeline({{"exact", "precise-prefix-cache-producer", {}}, {"any", "expr-scorer", any_match}});
  return pipeline({{"precise", "precise-prefix-cache-scorer", {}},
                   {"prefix-cache-affinity-filter", "prefix-cache-affinity-filter", {}},
                   {"prefix-cache-scorer", "prefix-cache-scorer", {}},
                   {"token-load-scorer", "token-load-scorer", {}},
                   {"kv-cache-utilization-scorer", "kv-cache-utilization-scorer", {}}});
}

SimulationSpec exact(World world, std::uint64_t seed) {
  SimulationSpec spec = world(seed);
  RandomStream random(seed, "kv events");
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    spec.routing.pool[p].pipeline = picker(seed + p);
    const SimTime delays[] = {0, 0, kMs, 7'777'777, 50 * kMs};
    spec.routing.pool[p].signals.prefix_delay = delays[random.below(5)];
    spec.pools[p].replicas = std::max(spec.pools[p].replicas, 3);
    if (random.below(5) == 0 && std::holds_alternative<VllmArgs>(spec.pools[p].engine)) spec.pools[p].ranks = 2;
  }
  return spec;
}

/// The same policies with the approximate index in place of the exact one.
SimulationSpec approximate(SimulationSpec spec) {
  for (PolicySpec& policy : spec.routing.pool) {
    auto plugins = policy.pipeline->plugins;
    std::erase_if(plugins, [](const auto& p) { return p.type.find("producer") != std::string::npos; });
    for (auto& plugin : plugins) {
      if (plugin.type == "precise-prefix-cache-scorer") plugin.type = "prefix-cache-scorer";
    }
    policy.pipeline = pipeline(std::move(plugins));
  }
  return spec;
}

void check(World world, std::uint64_t worlds, std::uint64_t apart, std::uint64_t leaps_in_a_world = 10) {
  std::uint64_t leaps = 0, elsewhere = 0;
  for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
    Report report;
    const std::string leap = fingerprint_of(exact(world, seed), false, &report);
    const std::string stepwise = fingerprint_of(exact(world, seed), true);
    INFO("world " << seed);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    leaps += report.leaps;
    elsewhere += fingerprint_of(approximate(exact(world, seed)), false) != leap;
  }
  CHECK(leaps >= leaps_in_a_world * worlds);
  CHECK(elsewhere > apart);  // what the engines tell does decide
}

SimulationSpec ahead(std::uint64_t seed) {
  SimulationSpec spec = seed % 2 == 0 ? random_prefix_world(seed) : random_disaggregated_world(seed);
  plan_ahead(spec, seed);
  return spec;
}

SimulationSpec drafting(std::uint64_t seed) {
  SimulationSpec spec = random_prefix_world(seed);
  speculate(spec, seed);
  return spec;
}

SimulationSpec with_hosts(std::uint64_t seed) {
  SimulationSpec spec = random_prefix_world(seed);
  offload(spec, seed);
  return spec;
}

/// Conversations over small caches.
SimulationSpec conversations(std::uint64_t seed, std::int64_t blocks = 0) {
  RandomStream random(seed, "conversations");
  auto curve = std::make_shared<KneeCurve>();
  SimulationSpec spec = one_pool(curve, 3 + static_cast<std::int32_t>(random.below(3)));
  spec.seed = seed;
  VllmArgs& args = spec.pools[0].vllm();
  args.block_size = random.below(2) == 0 ? 4 : 16;
  args.enable_prefix_caching = true;
  args.max_num_batched_tokens = random.below(2) == 0 ? 64 : 2048;
  args.max_model_len = 1000;
  args.num_gpu_blocks = (blocks > 0 ? blocks : 1100 + static_cast<std::int64_t>(random.below(2000))) / args.block_size;
  SessionsSpec sessions;
  sessions.arrivals.rate_per_s = 20 + static_cast<double>(random.below(60));
  sessions.sessions = 60;
  sessions.turns = {LengthSpec::Kind::kUniform, 4, 0, 1, 7, {}};
  sessions.first_prompt_tokens = {LengthSpec::Kind::kUniform, 60, 0, 1, 120, {}};
  sessions.turn_tokens = {LengthSpec::Kind::kUniform, 20, 0, 1, 40, {}};
  sessions.output_tokens = {LengthSpec::Kind::kUniform, 30, 0, 1, 60, {}};
  sessions.think_time = {ThinkSpec::Kind::kExponential, Seconds(0.05), 0};
  sessions.max_context = 900;
  spec.sources.push_back({.source = make_source(sessions, ClassId(0u), 0, spec.seed, "workload/0")});
  return spec;
}

SimulationSpec small_conversations(std::uint64_t seed) { return conversations(seed); }

EngineArgs sglang(std::uint64_t seed, std::int64_t tokens) {
  RandomStream random(seed, "sglang");
  SglangArgs args;
  args.page_size = random.below(2) == 0 ? 1 : 16;
  args.context_length = 4096;
  args.max_total_num_tokens = tokens;
  args.disable_overlap_schedule = random.below(2) == 0;
  args.enable_mixed_chunk = random.below(2) == 0;
  const auto policies = {SglangArgs::Eviction::kLru, SglangArgs::Eviction::kLfu, SglangArgs::Eviction::kMru};
  args.radix_eviction_policy = policies.begin()[random.below(3)];
  return args;
}

EngineArgs tensorrt_llm(std::uint64_t seed, std::int64_t tokens) {
  RandomStream random(seed, "tensorrt-llm");
  TensorrtLlmArgs args;
  args.tokens_per_block = random.below(2) == 0 ? 4 : 32;
  args.num_blocks = tokens / args.tokens_per_block;
  args.disable_overlap_scheduler = random.below(2) == 0;
  if (random.below(2) == 0) args.capacity_scheduler_policy = TensorrtLlmArgs::CapacityPolicy::kMaxUtilization;
  return args;
}

template <EngineArgs (*kEngine)(std::uint64_t, std::int64_t)>
SimulationSpec on(std::uint64_t seed) {
  SimulationSpec spec = seed % 2 == 0 ? random_prefix_world(seed) : conversations(seed);
  RandomStream random(seed, "tokens");
  for (PoolSpec& pool : spec.pools) pool.engine = kEngine(seed, 1000 + static_cast<std::int64_t>(random.below(4000)));
  return spec;
}

std::uint64_t hits(const Report& report) {
  std::uint64_t tokens = 0;
  for (const ReplicaReport& replica : report.replicas) tokens += static_cast<std::uint64_t>(replica.prefix.hits);
  return tokens;
}

}  // namespace

TEST_CASE("leaps and single steps give the same bits where engines tell what their prefix caches hold") {
  check(random_prefix_world, 250, 100);
  check(whole_milliseconds, 200, 80);
  check(small_conversations, 60, 40);
  check(ahead, 200, 60);
  check(random_disaggregated_world, 100, 30);
  check(with_hosts, 60, 20);
  check(on<tensorrt_llm>, 150, 60);
}

TEST_CASE("walks and bulk decisions of SGLang, which tells step by step, give the same bits") {
  check(on<sglang>, 150, 60, 0);
}

TEST_CASE("leaps and single steps give the same bits where engines with drafts tell what their caches hold") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string leap = fingerprint_of(exact(drafting, seed), false);
    INFO("world " << seed);
    if (leap != fingerprint_of(exact(drafting, seed), true)) FAIL("leaps and single steps differ");
  }
}

TEST_CASE(
    "an idle engine finds at admission exactly what the router's exact index said, and the approximate one errs") {
  std::uint64_t compared = 0, found = 0, believed_wrongly = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    for (std::uint64_t row = 0; row < 100; ++row) {
      SimulationSpec spec = conversations(seed, 700);
      spec.pools[0].vllm().async_scheduling = seed % 5 == 0;
      if (seed % 5 == 1) spec.pools[0].engine = sglang(seed, 700);
      if (seed % 5 == 2) spec.pools[0].engine = tensorrt_llm(seed, 700);
      const std::int64_t block = block_size(spec.pools[0].engine);
      const EngineArgs engine = spec.pools[0].engine;
      spec.routing.pool[0].pipeline = picker(3 * seed + (row % 2 == 0 ? 0 : 2));
      DecisionLog log;
      log.source = SourceId(0u);
      log.row = row;
      spec.log = &log;
      const auto records = records_by_row(std::move(spec));
      if (log.pipelines.empty() || log.stages.empty()) continue;
      const DecisionLog::PipelineChoice& choice = log.pipelines[0];
      const DecisionLog::Stage& queued = log.stages[0];
      if (queued.least_batch + queued.most_batch > 0) continue;  // others would enter or leave in the same step
      const auto place = std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.row == row; });
      REQUIRE(place != records.end());
      // At least one token is computed.
      const auto usable = [&](std::int64_t blocks) { return std::min(blocks, (place->prompt_tokens - 1) / block); };
      INFO("world " << seed << ", request " << row);
      const std::int64_t match = usable(choice.seen.prefix[choice.chosen].match_blocks) * block;
      if (std::holds_alternative<TensorrtLlmArgs>(engine)) {  // which uses parts of a block, too
        CHECK(match / block == place->cached_tokens / block);
      } else {
        CHECK(match == place->cached_tokens);
      }
      ++compared;
      found += place->cached_tokens > 0;
      if (choice.seen.approximate.empty()) continue;
      believed_wrongly += usable(choice.seen.approximate[choice.chosen].match_blocks) * block != place->cached_tokens;
    }
  }
  CHECK(compared > 200);
  CHECK(found > 50);
  CHECK(believed_wrongly > 10);
}

TEST_CASE("routing by exact matches finds more in the caches than round robin does") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Report by_match, in_turn;
    SimulationSpec spec = conversations(seed, 8000);
    spec.routing.pool[0].pipeline = pipeline({{"precise", "precise-prefix-cache-scorer", {}}});
    records_by_row(std::move(spec), &by_match);
    records_by_row(conversations(seed, 8000), &in_turn);
    INFO("world " << seed);
    CHECK(hits(by_match) > hits(in_turn));
  }
}
