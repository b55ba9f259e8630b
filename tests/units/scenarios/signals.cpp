// SPDX-License-Identifier: Apache-2.0
// The section routing.signals, and flow control as a scenario says it.
#include <catch2/catch.hpp>
#include <memory>

#include "scenarios/build.h"
#include "scenarios/load.h"
#include "scenarios/resolve.h"
#include "scenarios/summary_json.h"
#include "sim/routing/pipeline.h"
#include "sim/simulation.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;

std::string with_routing(const std::string& lines) { return changed("measure:", lines + "measure:"); }

}  // namespace

TEST_CASE("signals are by pool, a metric may differ from the others, and check prints them whole") {
  const Scenario scenario = loaded(with_routing(R"(  signals:
    metrics: {source: engine, interval: 50 ms, delay: 5 ms, staleness_threshold: 200 ms, stale_policy: saturated}
    kv_usage: {interval: 1 s}
    prefix: {source: index, delay: 50 ms}
    in_flight: {source: router}
  pools: {b: {signals: {metrics: 0 s, waiting: {stale_policy: ignore, interval: 2 s}}}}
)"));
  REQUIRE(scenario.routing.pool_signals.size() == 2);
  const SignalSpec& a = scenario.routing.pool_signals[0];
  CHECK(a.waiting == MetricSignal{50 * kMs, 5 * kMs, 200 * kMs, StalePolicy::kSaturated});
  CHECK(a.running == a.waiting);
  CHECK(a.kv_usage == MetricSignal{1000 * kMs, 5 * kMs, 200 * kMs, StalePolicy::kSaturated});
  CHECK(a.prefix_delay == 50 * kMs);
  const SignalSpec& b = scenario.routing.pool_signals[1];
  CHECK(b.running == MetricSignal{0, 0, 200 * kMs, StalePolicy::kSaturated});
  CHECK(b.waiting == MetricSignal{2000 * kMs, 0, 200 * kMs, StalePolicy::kIgnore});
  CHECK(b.prefix_delay == 50 * kMs);
  const std::string whole = resolved_yaml(scenario);
  const Scenario again = loaded(whole);
  CHECK(resolved_yaml(again) == whole);
  CHECK(again.routing.pool_signals[0] == a);
  CHECK(again.routing.pool_signals[1] == b);
  CHECK(scenario_digest(scenario) != scenario_digest(loaded(sound_scenario())));
}

TEST_CASE("the busy share is a signal with a window, where a pool's policy reads it") {
  const Scenario scenario = loaded(with_routing(R"(  signals: {metrics: 50 ms, busy: {window: 5 s, delay: 10 ms}}
  pools: {a: {policy: least-busy-time}}
)"));
  const SignalSpec& a = scenario.routing.pool_signals[0];
  CHECK(a.busy == MetricSignal{50 * kMs, 10 * kMs});
  CHECK(a.busy_window == 5000 * kMs);
  CHECK(scenario.routing.pool_signals[1].busy == MetricSignal());
  const std::string whole = resolved_yaml(scenario);
  CHECK(whole.find("busy: {source: engine, window: 5 s, interval: 50 ms, delay: 10 ms") != std::string::npos);
  const Scenario again = loaded(whole);
  CHECK(resolved_yaml(again) == whole);
  CHECK(again.routing.pool_signals[0] == a);
}

TEST_CASE("without signals everything is known at once, and check says nothing of it") {
  const Scenario scenario = loaded(sound_scenario());
  for (const SignalSpec& signals : scenario.routing.pool_signals) CHECK(signals == SignalSpec());
  CHECK(resolved_yaml(scenario).find("signals") == std::string::npos);
}

TEST_CASE("flow control tells in summary and notes what it held") {
  const Scenario scenario = loaded(with_routing(R"(  pool:
    config:
      apiVersion: llm-d.ai/v1alpha1
      kind: EndpointPickerConfig
      featureGates: [flowControl]
      plugins: [{type: queue-scorer}, {type: concurrency-detector, parameters: {maxConcurrency: 1}}]
      schedulingProfiles: [{name: p, plugins: [{pluginRef: queue-scorer}]}]
      flowControl: {maxRequests: 3, defaultRequestTTL: 20s, saturationDetector: {pluginRef: concurrency-detector}}
)"));
  BuiltScenario built = build(scenario);
  const Report report = simulate(std::move(built.spec));
  const Summary summary = summarise(report, built.facts);
  CHECK(report.flows[0].came + report.flows[0].found_full > 0);
  const std::string json = summary_json(summary);
  for (const char* key : {"\"flow_control\"", "\"max_length\"", "\"mean_wait_s\"", "\"expired\""}) {
    CHECK_THAT(json, Catch::Contains(key));
  }
  bool told = false;
  for (const Note& note : summary.notes) told |= note.text.find("its flow control held up to") != std::string::npos;
  CHECK(told);
  const std::string whole = resolved_yaml(scenario);
  CHECK(resolved_yaml(loaded(whole)) == whole);
}

TEST_CASE("the example of flow control shows what its comments say") {
  struct Ttft {
    double median, p99;
  };
  const std::string file = POOLCAST_SOURCE_DIR "/scenarios/examples/flow_control.yaml";
  const auto chat_ttft = [&](const std::vector<std::string>& overrides, const char* detector) {
    Scenario scenario = load_scenario(file, source_catalog(), overrides);
    auto picker = std::make_shared<routing::PipelineSpec>(*scenario.routing.pool_pickers[0]);
    for (std::size_t i = 0; i < picker->plugins.size(); ++i) {
      if (picker->plugins[i].type == detector) picker->flow->detector = i;
    }
    scenario.routing.pool_pickers[0] = picker;
    BuiltScenario built = build(scenario);
    const Report report = simulate(std::move(built.spec));
    const Histogram ttft = report.of_class(ClassId(0u)).latencies[Metric::kTtft];
    return Ttft{static_cast<double>(ttft.quantile(0.5)) / 1e9, static_cast<double>(ttft.quantile(0.99)) / 1e9};
  };
  const Ttft scraped = chat_ttft({}, "utilization-detector");
  const Ttft rarely = chat_ttft({"routing.signals.metrics.interval=15 s"}, "utilization-detector");
  CHECK(scraped.median < 0.5);
  CHECK(rarely.median > 5);
  const Ttft in_flight = chat_ttft({}, "concurrency-detector");
  CHECK(scraped.p99 > 20);
  CHECK(in_flight.p99 < 2);
}
