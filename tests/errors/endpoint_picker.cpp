// SPDX-License-Identifier: Apache-2.0
// EndpointPickerConfig: bad ones with the whole message.
#include <catch2/catch.hpp>

#include "scenarios/endpoint_picker_config.h"
#include "sim/routing/registry.h"

using namespace poolcast;

namespace {

/// The whole message that reading a configuration with these lines after its head ends with.
std::string fault(const std::string& lines) {
  std::vector<std::string> notes;
  try {
    load_endpoint_picker(parse_yaml("epp.yaml", "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n" + lines),
                         notes);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an unknown plugin type names the nearest, one that is not modelled says so") {
  CHECK(fault("plugins: [{type: queue-scorers}]") ==
        R"(epp.yaml:3:18: plugins[0].type: unknown plugin type "queue-scorers"
plugins: [{type: queue-scorers}]
                 ^ did you mean "queue-scorer"?)");
  CHECK(
      fault("plugins: [{type: header-profile-handler}]") ==
      R"(epp.yaml:3:18: plugins[0].type: llm-d's header-profile-handler is not modelled: requests here have no headers: `routing.pools` gives each pool a profile of its own
plugins: [{type: header-profile-handler}]
                 ^)");
}

TEST_CASE("what is not modelled says what to use instead, also where only the beginning of its name is known") {
  CHECK(fault("plugins: [{type: latency-slo-admitter}]").find("\"endpoint.ttft_headroom_ms >= 0\"") !=
        std::string::npos);
  CHECK(fault("plugins: [{type: priority-holdback-policy}]").find("usage limits are not modelled") !=
        std::string::npos);
  for (const routing::MissingPlugin& missing : routing::plugins_not_modelled()) {
    const std::string text = fault("plugins: [{type: " + std::string(missing.type) + "}]");
    CHECK(text.find("epp.yaml:3:18: plugins[0].type: llm-d's " + std::string(missing.type) + " is not modelled: ") ==
          0);
  }
}

TEST_CASE("parameters of buckets and of objectives are checked") {
  CHECK(fault("plugins: [{type: length-bucket-filter, parameters: {bucket_adjust_interval_secs: 0}}]") ==
        R"(epp.yaml:3:82: plugins[0].parameters.bucket_adjust_interval_secs: must be in [0.001, 1e9], got 0
plugins: [{type: length-bucket-filter, parameters: {bucket_adjust_interval_secs: 0}}]
                                                                                 ^)");
  CHECK(fault("plugins: [{type: slo-load-filter, parameters: {load: most}}]") ==
        R"(epp.yaml:3:54: plugins[0].parameters.load: must not be "most"
plugins: [{type: slo-load-filter, parameters: {load: most}}]
                                                     ^ one of least, pack)");
  CHECK(fault("plugins: [{type: predicted-latency-producer, parameters: {x: 1}}]") ==
        R"(epp.yaml:3:59: plugins[0].parameters.x: unknown key
plugins: [{type: predicted-latency-producer, parameters: {x: 1}}]
                                                          ^)");
}

TEST_CASE("an unknown parameter, a value of another kind and one out of range point at themselves") {
  CHECK(fault(R"(plugins:
  - type: load-aware-scorer
    parameters:
      treshold: 4)") ==
        R"(epp.yaml:6:7: plugins[0].parameters.treshold: unknown key
      treshold: 4
      ^ did you mean "threshold"?)");
  CHECK(fault("plugins: [{type: load-aware-scorer, parameters: {threshold: many}}]") ==
        R"(epp.yaml:3:61: plugins[0].parameters.threshold: must be a number, got text
plugins: [{type: load-aware-scorer, parameters: {threshold: many}}]
                                                            ^)");
  CHECK(fault("plugins: [{type: prefix-cache-scorer, parameters: {matchLengthWeight: 1.5}}]") ==
        R"(epp.yaml:3:71: plugins[0].parameters.matchLengthWeight: must be in [0, 1], got 1.5
plugins: [{type: prefix-cache-scorer, parameters: {matchLengthWeight: 1.5}}]
                                                                      ^)");
  CHECK(fault("plugins: [{type: latency-scorer, parameters: {headroomSelectionStrategy: mots}}]") ==
        R"(epp.yaml:3:74: plugins[0].parameters.headroomSelectionStrategy: must not be "mots"
plugins: [{type: latency-scorer, parameters: {headroomSelectionStrategy: mots}}]
                                                                         ^ did you mean "most"?)");
}

TEST_CASE("faults deep in the parameters are found by a plugin's own reader") {
  CHECK(fault(R"(plugins:
  - type: utilization-filter
    parameters:
      conditions:
        - {metric: waiting-queue, maxValue: 3}
        - {metric: kv-cache-utilisation, maxValue: 0.9})") ==
        R"(epp.yaml:8:20: plugins[0].parameters.conditions[1].metric: unknown metric "kv-cache-utilisation"
        - {metric: kv-cache-utilisation, maxValue: 0.9}
                   ^ did you mean "kv-cache-utilization"?)");
  CHECK(fault("plugins: [{type: utilization-filter}]") ==
        R"(epp.yaml:3:11: plugins[0]: needs at least one entry in conditions
plugins: [{type: utilization-filter}]
          ^)");
}

TEST_CASE("references to nothing and names that stand twice are errors") {
  CHECK(fault(R"(plugins: [{type: queue-scorer}]
schedulingProfiles:
  - name: default
    plugins:
      - pluginRef: queue-score)") ==
        R"(epp.yaml:7:20: schedulingProfiles[0].plugins[0].pluginRef: there is no plugin named "queue-score"
      - pluginRef: queue-score
                   ^ did you mean "queue-scorer"?)");
  CHECK(fault("plugins: [{type: queue-scorer}, {type: queue-scorer}]") ==
        R"(epp.yaml:3:33: plugins[1]: the plugin name "queue-scorer" is taken
plugins: [{type: queue-scorer}, {type: queue-scorer}]
                                ^ a name of its own tells two apart)");
  CHECK(fault("flowControl: {saturationDetector: {pluginRef: best-detector}}") ==
        R"(epp.yaml:3:47: flowControl.saturationDetector.pluginRef: there is no plugin named "best-detector"
flowControl: {saturationDetector: {pluginRef: best-detector}}
                                              ^)");
}

TEST_CASE("a profile takes one picker, and only what can stand in it") {
  CHECK(fault(R"(plugins: [{type: max-score-picker}, {type: random-picker}]
schedulingProfiles: [{name: p, plugins: [{pluginRef: max-score-picker}, {pluginRef: random-picker}]}])") ==
        R"(epp.yaml:4:85: schedulingProfiles[0].plugins[1].pluginRef: the profile has a picker already
schedulingProfiles: [{name: p, plugins: [{pluginRef: max-score-picker}, {pluginRef: random-picker}]}]
                                                                                    ^)");
  CHECK(fault(R"(plugins: [{type: single-profile-handler}]
schedulingProfiles: [{name: p, plugins: [{pluginRef: single-profile-handler}]}])") ==
        R"(epp.yaml:4:54: schedulingProfiles[0].plugins[0].pluginRef: a handler does not stand in a profile
schedulingProfiles: [{name: p, plugins: [{pluginRef: single-profile-handler}]}]
                                                     ^)");
  CHECK(
      fault("schedulingProfiles: [{name: decode}, {name: prefill}]") ==
      R"(epp.yaml:3:38: schedulingProfiles[1]: a second profile needs a handler that knows when to run it, such as disagg-profile-handler
schedulingProfiles: [{name: decode}, {name: prefill}]
                                     ^)");
}

TEST_CASE("another kind, an unknown version and an unknown key are errors") {
  std::vector<std::string> notes;
  CHECK_THROWS_WITH(load_endpoint_picker(parse_yaml("x", "apiVersion: v1\nkind: ConfigMap\n"), notes),
                    Catch::Contains("apiVersion: unknown value \"v1\""));
  CHECK(fault("scheduleProfiles: []") ==
        R"(epp.yaml:3:1: scheduleProfiles: unknown key
scheduleProfiles: []
^ did you mean "schedulingProfiles"?)");
}

TEST_CASE("faults of flow control point at themselves") {
  const std::string on = "featureGates: [flowControl]\n";
  CHECK(fault(on + "flowControl: {maxBytes: 1 GB}") ==
        R"(epp.yaml:4:25: flowControl.maxBytes: "1 GB" is no quantity of Kubernetes
flowControl: {maxBytes: 1 GB}
                        ^ such as 5000, 1G or 512Mi)");
  CHECK(fault(on + "flowControl: {defaultRequestTTL: 60}") ==
        R"(epp.yaml:4:34: flowControl.defaultRequestTTL: "60" is no duration
flowControl: {defaultRequestTTL: 60}
                                 ^ such as 60s or 500ms)");
  CHECK(fault(on + "flowControl: {priorityBands: [{priority: 1}, {priority: 1}]}") ==
        R"(epp.yaml:4:57: flowControl.priorityBands[1].priority: there is a band of priority 1 already
flowControl: {priorityBands: [{priority: 1}, {priority: 1}]}
                                                        ^)");
  CHECK(fault(on + "flowControl: {defaultPriorityBand: {orderingPolicyRef: fcfs}}") ==
        R"(epp.yaml:4:56: flowControl.defaultPriorityBand.orderingPolicyRef: there is no flow order named "fcfs"
flowControl: {defaultPriorityBand: {orderingPolicyRef: fcfs}}
                                                       ^ did you mean "fcfs-ordering-policy"?)");
  CHECK(fault(on + "flowControl: {saturationDetector: {pluginRef: utilisation-detector}}") ==
        R"(epp.yaml:4:47: flowControl.saturationDetector.pluginRef: there is no plugin named "utilisation-detector"
flowControl: {saturationDetector: {pluginRef: utilisation-detector}}
                                              ^)");
  CHECK(
      fault(on + "flowControl: {usageLimitPolicyPluginRef: x}") ==
      R"(epp.yaml:4:15: flowControl.usageLimitPolicyPluginRef: usage limits are not modelled: `maxRequests` of a priority band limits its queue
flowControl: {usageLimitPolicyPluginRef: x}
              ^)");
  CHECK(
      fault(on + "flowControl: {enableEviction: true}") ==
      R"(epp.yaml:4:31: flowControl.enableEviction: eviction of requests that run is not modelled: `timeout` and `patience` of a class end them
flowControl: {enableEviction: true}
                              ^)");
}

TEST_CASE("profiles for prefill and decode need pools of these roles, and name each other") {
  const std::string profiles = "schedulingProfiles: [{name: decode}, {name: prefill}]\n";
  CHECK(
      fault(profiles + "plugins: [{type: disagg-profile-handler}]") ==
      R"(epp.yaml:4:18: plugins[0].type: has profiles for pools with the role prefill and the role decode, and this is neither
plugins: [{type: disagg-profile-handler}]
                 ^)");
  CHECK(fault(profiles + "plugins: [{type: disagg-profile-handler, parameters: {deciders: {prefill: d}}}]") ==
        R"(epp.yaml:4:75: plugins[0].parameters.deciders.prefill: there is no decider named "d" among the plugins
plugins: [{type: disagg-profile-handler, parameters: {deciders: {prefill: d}}}]
                                                                          ^)");
  CHECK(fault(profiles + "plugins: [{type: disagg-profile-handler, parameters: {profiles: {encode: e}}}]") ==
        R"(epp.yaml:4:66: plugins[0].parameters.profiles.encode: a profile that encodes is known but not modelled yet
plugins: [{type: disagg-profile-handler, parameters: {profiles: {encode: e}}}]
                                                                 ^)");
  CHECK(fault("schedulingProfiles: [{name: a}, {name: a}]") ==
        R"(epp.yaml:3:40: schedulingProfiles[1].name: the profile name "a" is taken
schedulingProfiles: [{name: a}, {name: a}]
                                       ^)");
}
