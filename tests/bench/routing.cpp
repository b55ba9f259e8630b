// SPDX-License-Identifier: Apache-2.0
// The cost of one decision of a routing pipeline, in thread CPU time, over N endpoints with unlike metrics. The default
// pipeline is llm-d's: queue, KV and prefix scorers and the max-score picker.
//
//   build/release/tests/bench_routing
#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "sim/random.h"
#include "sim/routing/pipeline.h"

namespace {

using namespace poolcast;
using namespace poolcast::routing;

Endpoints random_endpoints(std::size_t count) {
  RandomStream random(1, "bench");
  Endpoints e;
  e.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    e.waiting[i] = static_cast<std::int64_t>(random.below(20));
    e.running[i] = static_cast<std::int64_t>(random.below(200));
    e.kv_usage[i] = random.uniform();
    e.in_flight_requests[i] = static_cast<std::int64_t>(random.below(300));
    e.in_flight_tokens[i] = static_cast<std::int64_t>(random.below(200'000));
    e.prefix[i] = {static_cast<std::int64_t>(random.below(100)), 100, 16};
  }
  return e;
}

PipelineSpec pipeline_of(const std::vector<const char*>& types) {
  PipelineSpec spec;
  for (const char* type : types) spec.plugins.push_back({type, type, {}});
  return spec;
}

PipelineSpec ruled_by(const char* type, const char* key, const char* rule) {
  PipelineSpec spec = pipeline_of({type});
  spec.plugins[0].parameters = map_value({{key, text_value(rule)}});
  return spec;
}

PipelineSpec scored_by(const char* expression) { return ruled_by("expr-scorer", "expression", expression); }

// Three signals, one by one and all at once.
constexpr const char* kScriptOfOne = R"(
  function score(request, endpoint)
    return 0.5 * endpoint.prefix_share + 0.3 * (1 - endpoint.kv_usage) + 0.2 / (1 + endpoint.waiting)
  end)";
constexpr const char* kScriptOfAll = R"(
  function score_all(request, endpoints)
    local scores = {}
    for i, e in ipairs(endpoints) do
      scores[i] = 0.5 * e.prefix_share + 0.3 * (1 - e.kv_usage) + 0.2 / (1 + e.waiting)
    end
    return scores
  end)";
constexpr const char* kScriptThatPicks = R"(
  function pick(request, endpoints)
    local best = 1
    for i = 2, #endpoints do
      if endpoints[i].score > endpoints[best].score then best = i end
    end
    return best
  end)";

void decide(benchmark::State& state, PipelineSpec spec) {
  complete_pipeline(spec);
  Pipeline pipeline(spec, 1, "bench");
  const Endpoints endpoints = random_endpoints(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint32_t> open(endpoints.size());
  std::iota(open.begin(), open.end(), 0u);
  pipeline.bind(endpoints);
  for (auto _ : state) benchmark::DoNotOptimize(pipeline.decide({}, endpoints, open).endpoint);
}

void default_pipeline(benchmark::State& state) { decide(state, {}); }
void seven_scorers(benchmark::State& state) {
  decide(state, pipeline_of({"prefix-cache-affinity-filter", "queue-scorer", "running-requests-size-scorer",
                             "load-aware-scorer", "kv-cache-utilization-scorer", "token-load-scorer",
                             "prefix-cache-scorer", "active-request-scorer"}));
}
void weighted_random(benchmark::State& state) {
  decide(state, pipeline_of({"queue-scorer", "weighted-random-picker"}));
}
void queue_built_in(benchmark::State& state) { decide(state, pipeline_of({"queue-scorer"})); }
void queue_as_expression(benchmark::State& state) {
  decide(state, scored_by("pool.max_waiting == pool.min_waiting ? 1 : (pool.max_waiting - endpoint.waiting) / "
                          "(pool.max_waiting - pool.min_waiting)"));
}
void prefix_and_kv_built_in(benchmark::State& state) {
  decide(state, pipeline_of({"prefix-cache-scorer", "kv-cache-utilization-scorer"}));
}
void prefix_and_kv_as_expression(benchmark::State& state) {
  decide(state, scored_by("(endpoint.prefix_share + 1 - endpoint.kv_usage) / 2"));
}

void three_signals_as_expression(benchmark::State& state) {
  decide(state,
         scored_by("0.5 * endpoint.prefix_share + 0.3 * (1 - endpoint.kv_usage) + 0.2 / (1 + endpoint.waiting)"));
}
void lua_score(benchmark::State& state) { decide(state, ruled_by("lua-scorer", "script", kScriptOfOne)); }
void lua_score_all(benchmark::State& state) { decide(state, ruled_by("lua-scorer", "script", kScriptOfAll)); }
void lua_pick(benchmark::State& state) { decide(state, ruled_by("lua-picker", "script", kScriptThatPicks)); }

BENCHMARK(default_pipeline)->Arg(16)->Arg(1000);
BENCHMARK(seven_scorers)->Arg(16)->Arg(1000);
BENCHMARK(weighted_random)->Arg(16)->Arg(1000);
BENCHMARK(queue_built_in)->Arg(16)->Arg(1000);
BENCHMARK(queue_as_expression)->Arg(16)->Arg(1000);
BENCHMARK(prefix_and_kv_built_in)->Arg(16)->Arg(1000);
BENCHMARK(prefix_and_kv_as_expression)->Arg(16)->Arg(1000);
BENCHMARK(three_signals_as_expression)->Arg(16)->Arg(1000);
BENCHMARK(lua_score)->Arg(16)->Arg(1000);
BENCHMARK(lua_score_all)->Arg(16)->Arg(1000);
BENCHMARK(lua_pick)->Arg(16)->Arg(1000);

}  // namespace

BENCHMARK_MAIN();
