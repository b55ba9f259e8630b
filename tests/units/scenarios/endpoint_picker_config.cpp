// SPDX-License-Identifier: Apache-2.0
#include "scenarios/endpoint_picker_config.h"

#include <catch2/catch.hpp>

#include "scenarios/resolve.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kHead = "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n";

routing::PipelineSpec read(const std::string& lines, std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> told;
  routing::PipelineSpec spec = load_endpoint_picker(parse_yaml("epp.yaml", kHead + lines), told);
  if (notes != nullptr) *notes = told;
  return spec;
}

/// "queue-scorer 2, max-score-picker 1".
std::string profile_of(const routing::PipelineSpec& spec) {
  std::string text;
  for (const auto& ref : *spec.refs) {
    text += (text.empty() ? "" : ", ") + spec.plugins[ref.plugin].name + " " + routing::shortest(ref.weight);
  }
  return text;
}

}  // namespace

TEST_CASE("without plugins the picker is llm-d's built-in one") {
  const auto spec = read("");
  CHECK(profile_of(spec) == "queue-scorer 2, kv-cache-utilization-scorer 2, prefix-cache-scorer 3, max-score-picker 1");
  CHECK(spec.plugins.size() == 7);  // and a handler and two producers
}

TEST_CASE("without a profile all plugins are in one, in their order, with weight 1") {
  const auto spec = read("plugins: [{type: random-picker, name: r}, {type: load-aware-scorer}, {type: decode-filter}]");
  CHECK(profile_of(spec) == "r 1, load-aware-scorer 1, decode-filter 1");
}

TEST_CASE("a profile names what it takes; a picker is added where there is none") {
  const auto spec = read(R"(plugins:
  - {name: light, type: load-aware-scorer, parameters: {threshold: 7}}
  - {name: heavy, type: load-aware-scorer}
  - type: single-profile-handler
schedulingProfiles:
  - name: main
    plugins: [{pluginRef: heavy, weight: 0.5}, {pluginRef: light, weight: -2}]
)");
  CHECK(spec.profile == "main");
  CHECK(profile_of(spec) == "heavy 0.5, light -2, max-score-picker 1");
}

TEST_CASE(
    "a listed max-score-picker is taken where a profile has no picker, and names that are taken stay with their "
    "plugins") {
  const auto listed = read(R"(plugins: [{type: queue-scorer}, {name: best, type: max-score-picker}]
schedulingProfiles: [{name: p, plugins: [{pluginRef: queue-scorer}]}]
)");
  CHECK(profile_of(listed) == "queue-scorer 1, best 1");
  const auto taken = read(R"(plugins: [{name: max-score-picker, type: queue-scorer}]
schedulingProfiles: [{name: p, plugins: [{pluginRef: max-score-picker}]}]
)");
  CHECK(profile_of(taken) == "max-score-picker 1, max-score-picker-default 1");
}

TEST_CASE("what has no effect here is told") {
  std::vector<std::string> notes;
  read(R"(featureGates: [prepareData]
plugins: [{type: queue-scorer}]
dataLayer: {}
saturationDetector: {pluginRef: utilization-detector}
)",
       &notes);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] ==
        "endpoint picker: read and without effect here: feature gate prepareData, saturationDetector, dataLayer");
}

TEST_CASE("flow control is off until its feature gate is listed") {
  std::vector<std::string> notes;
  CHECK_FALSE(read("flowControl: {maxRequests: 5}\n", &notes).flow);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == "endpoint picker: flowControl is off, as in llm-d, until featureGates lists it");
  const auto spec = read("featureGates: [flowControl]\n", &notes);
  CHECK(notes.empty());
  REQUIRE(spec.flow);
  CHECK(spec.plugins[spec.flow->detector].type == "utilization-detector");
  CHECK(spec.flow->ttl == 60 * kNanosPerSecond);
  CHECK(spec.flow->max_requests == INT64_MAX);
  CHECK(spec.flow->other.max_requests == 5000);
  CHECK(spec.flow->other.max_bytes == 1'000'000'000);
  CHECK(profile_of(spec) == "queue-scorer 2, kv-cache-utilization-scorer 2, prefix-cache-scorer 3, max-score-picker 1");
}

TEST_CASE("flow control is read whole, and its text reads back as the same") {
  const auto spec = read(R"(featureGates: [flowControl]
plugins:
  - {name: slow, type: utilization-detector, parameters: {metricsStalenessThreshold: 2s}}
  - {name: cap, type: concurrency-detector, parameters: {maxConcurrency: 7}}
  - {name: by-slo, type: slo-deadline-ordering-policy}
  - {type: queue-scorer}
schedulingProfiles: [{name: default, plugins: [{pluginRef: queue-scorer}]}]
flowControl:
  maxBytes: 1Gi
  maxRequests: "2k"
  defaultRequestTTL: 1m30s
  noEndpointRequestTTL: 5s
  defaultPriorityBand: {maxRequests: 9}
  defaultNegativePriorityBand: {orderingPolicyRef: edf-ordering-policy}
  priorityBands:
    - {priority: 10, orderingPolicyRef: by-slo, fairnessPolicyRef: round-robin-fairness-policy}
    - {priority: -3, maxBytes: 5M}
  saturationDetector: {pluginRef: cap}
  enableEviction: false
)");
  const FlowControlSpec& flow = *spec.flow;
  CHECK(flow.max_bytes == 1073741824);
  CHECK(flow.max_requests == 2000);
  CHECK(flow.ttl == 90 * kNanosPerSecond);
  CHECK(flow.other.max_requests == 9);
  CHECK(flow.other_negative.order == FlowOrder::kEdf);
  REQUIRE(flow.bands.size() == 2);
  CHECK(flow.bands[0].order == FlowOrder::kSloDeadline);
  CHECK(flow.bands[0].fairness == FlowFairness::kRoundRobin);
  CHECK(flow.bands[1].priority == -3);
  CHECK(flow.bands[1].max_bytes == 5'000'000);
  CHECK(spec.plugins[flow.detector].name == "cap");
  const std::string text = endpoint_picker_text(spec);
  std::vector<std::string> notes;
  const auto again = load_endpoint_picker(parse_yaml("text", text), notes);
  CHECK(endpoint_picker_text(again) == text);
  CHECK(again.flow->max_requests == 2000);
  CHECK(again.flow->other_negative.order == FlowOrder::kEdf);
}

TEST_CASE("a pool takes the profile of its role, and one that decodes the decider's rule") {
  const std::string text = kHead + R"(plugins:
  - {type: queue-scorer}
  - {type: decode-filter}
  - {type: prefill-filter}
  - {name: when, type: prefix-based-pd-decider, parameters: {nonCachedTokens: 256}}
  - {type: disagg-profile-handler, parameters: {profiles: {decode: d}, deciders: {prefill: when}}}
schedulingProfiles:
  - {name: prefill, plugins: [{pluginRef: prefill-filter}]}
  - {name: d, plugins: [{pluginRef: decode-filter}, {pluginRef: queue-scorer, weight: 2}]}
)";
  std::vector<std::string> notes;
  const auto decode = load_endpoint_picker(parse_yaml("epp.yaml", text), notes, PoolRole::kDecode);
  CHECK(decode.profile == "d");
  CHECK(profile_of(decode) == "decode-filter 1, queue-scorer 2, max-score-picker 1");
  REQUIRE(decode.prefill);
  CHECK(decode.prefill->uncached_tokens == 256);
  CHECK(decode.prefill->prompt_tokens == 0);
  const auto prefill = load_endpoint_picker(parse_yaml("epp.yaml", text), notes, PoolRole::kPrefill);
  CHECK(profile_of(prefill) == "prefill-filter 1, max-score-picker 1");
  CHECK_FALSE(prefill.prefill);
  for (const auto& [spec, role] : {std::pair{decode, PoolRole::kDecode}, {prefill, PoolRole::kPrefill}}) {
    const std::string whole = endpoint_picker_text(spec);
    const auto again = load_endpoint_picker(parse_yaml("text", whole), notes, role);
    CHECK(endpoint_picker_text(again) == whole);
    CHECK(again.prefill.has_value() == spec.prefill.has_value());
  }
}

TEST_CASE("the text of a picker holds every default and reads back as the same") {
  const auto spec = read(R"(plugins:
  - {type: prefix-cache-scorer, parameters: {matchLengthWeight: 0.25}}
  - {type: utilization-detector, parameters: {metricsStalenessThreshold: 2s}}
  - {type: by-label, name: zone, parameters: {label: zone, validValues: ["1", b c], allowsNoLabel: true}}
  - {type: utilization-filter, parameters: {conditions: [{metric: waiting-queue, maxValue: 5}]}}
schedulingProfiles: [{name: default, plugins: [{pluginRef: zone}, {pluginRef: prefix-cache-scorer, weight: 3}]}]
)");
  const std::string text = endpoint_picker_text(spec);
  CHECK_THAT(text, Catch::Contains("matchLengthScaleTokens: 8192"));
  std::vector<std::string> notes;
  CHECK(endpoint_picker_text(load_endpoint_picker(parse_yaml("text", text), notes)) == text);
}

TEST_CASE("a pool takes a picker in place, another pool may keep a policy, and check prints both whole") {
  const std::string text = changed("measure:", R"(  pool: {policy: least-request}
  pools:
    b: {config: {apiVersion: llm-d.ai/v1alpha1, kind: EndpointPickerConfig, plugins: [{type: queue-scorer}]}}
measure:)");
  const Scenario scenario = loaded(text);
  CHECK(scenario.routing.pool_pickers[0] == nullptr);
  REQUIRE(scenario.routing.pool_pickers[1] != nullptr);
  CHECK(profile_of(*scenario.routing.pool_pickers[1]) == "queue-scorer 1, max-score-picker 1");
  const std::string whole = resolved_yaml(scenario);
  CHECK(resolved_yaml(loaded(whole)) == whole);
  CHECK(scenario_digest(scenario) != scenario_digest(loaded(changed("measure:", R"(  pool: {policy: least-request}
measure:)"))));
}

TEST_CASE("a file that a picker should stand in is looked for beside the scenario and must be there") {
  CHECK_THAT(fault("measure:", R"(  pool: {config: nowhere.yaml}
measure:)"),
             Catch::Contains("nowhere.yaml: cannot"));
  CHECK(fault("measure:", R"(  pool: {policy: random, config: nowhere.yaml}
measure:)") ==
        R"(s.yaml:36:26: routing.pool.config: stands beside "policy", and only one of them can decide
  pool: {policy: random, config: nowhere.yaml}
                         ^)");
}
