// SPDX-License-Identifier: Apache-2.0
// `policy test`: what cases may say, and what each expectation finds.
#include <catch2/catch.hpp>

#include "scenarios/load_gateway.h"
#include "scenarios/policy_cases.h"
#include "scenarios/policy_test.h"
#include "sim/routing/aliases.h"
#include "sim/routing/lua_plugins.h"
#include "sim/routing/spellings.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kExamples = POOLCAST_SOURCE_DIR "/scenarios/examples/";

std::vector<PolicyCase> cases_of(const std::string& text, const std::string& policy) {
  return load_policy_cases(parse_yaml("c.yaml", text), load_policy_under_test(policy));
}

/// Of the one case that `fields` make up.
std::vector<std::string> differences(const std::string& fields, const std::string& policy) {
  const auto cases = cases_of("- {name: x, " + fields + "}\n", policy);
  REQUIRE(cases.size() == 1);
  return run_policy_case(load_policy_under_test(policy), cases[0]).differences;
}

std::string fault(const std::string& text, const std::string& policy = "llm-d") {
  try {
    cases_of(text, policy);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

using Texts = std::vector<std::string>;
constexpr const char* kTwo = "endpoints: [{name: a}, {name: b, waiting: 4}], ";

}  // namespace

TEST_CASE("the example's cases pass") {
  if (!routing::lua_built_in()) return;
  const auto policy = load_policy_under_test(kExamples + "scripted_routing.epp.yaml");
  std::vector<PolicyCaseResult> results;
  for (const auto& c : load_policy_cases(load_yaml_file(kExamples + "scripted_routing.cases.yaml"), policy)) {
    results.push_back(run_policy_case(policy, c));
    CAPTURE(c.name, results.back().differences);
    CHECK(results.back().differences.empty());
  }
  CHECK(results.size() == 5);
  CHECK(all_passed(results));
}

TEST_CASE("every expectation holds, or says how it does not") {
  const std::string two = kTwo;
  CHECK(differences(two + "expect: {pick: a, dropped: [], scores: {a: 4, queue-scorer.a: 1, queue-scorer.b: 0, b: 2}}",
                    "llm-d") == Texts{});
  CHECK(differences(two + "expect: {pick: b}", "llm-d") == Texts{"picked a, expected b"});
  CHECK(differences(two + "expect: {pick: none}", "llm-d") == Texts{"picked a, expected none"});
  CHECK(differences(two + "expect: {dropped: [b]}", "llm-d") == Texts{"the filters dropped none, expected b"});
  CHECK(differences(two + "expect: {scores: {a: 3, queue-scorer.b: 0.5, tolerance: 0.6}}", "llm-d") ==
        Texts{"total of a: 4, expected 3 (difference 1)"});
  CHECK(differences("endpoints: [{name: a}, {name: b}, {name: c, waiting: 1}], expect: {one_of: [a, b], "
                    "distribution: {a: 50 %, b: 0.5, c: 0}}",
                    "llm-d") == Texts{});
  CHECK(differences("endpoints: [{name: a}, {name: b, waiting: 1}], expect: {distribution: {b: 0.5, tolerance: 0.1}}",
                    "llm-d") == Texts{"share of b: 0 of 1000 decisions, expected 0.5 +- 0.1"});
}

TEST_CASE("policies by name are tried too, decision after decision") {
  const std::string three = "endpoints: [{name: a}, {name: b}, {name: c, in_flight_requests: 9}], ";
  CHECK(differences(three + "expect: {one_of: [a, b]}, repeat: 50", "least-request") == Texts{});
  CHECK(differences(three + "expect: {sequence: [a, b, c, a]}", "round-robin") == Texts{});
  CHECK(differences(three + "expect: {sequence: [a, a]}", "round-robin") == Texts{"picked a, b, expected a, a"});
  CHECK(differences("endpoints: [{name: a, weight: 3}, {name: b, weight: 1}], expect: {distribution: {a: 0.75}}",
                    "weighted") == Texts{});
  CHECK(differences(three + "expect: {pick: a}, repeat: 5", "round-robin") ==
        Texts{"decision 2 of 5: picked b, expected a"});
}

TEST_CASE("a policy may be spelt as its product spells it") {
  for (const routing::PolicySpelling& other : routing::policy_spellings()) {
    CAPTURE(other.spelling);
    const std::string name(other.name);
    if (is_of_gateway(name)) continue;
    if (routing::find_missing_policy(name) != nullptr) {
      CHECK_THROWS_WITH(load_policy_under_test(std::string(other.spelling)),
                        Catch::Contains(name + " is not modelled"));
      continue;
    }
    CHECK(load_policy_under_test(std::string(other.spelling)).name == name);
  }
}

TEST_CASE("what a picker sees is what the case says") {
  CHECK(differences("request: {prompt_tokens: 320}, endpoints: [{name: a, match_blocks: 10}, {name: b}], "
                    "expect: {scores: {prefix-cache-scorer.a: 0.5, prefix-cache-scorer.b: 0}}",
                    "llm-d") == Texts{});
  CHECK(differences("request: {prompt_tokens: 320}, endpoints: [{name: a, match_blocks: 10}, {name: b}], "
                    "expect: {scores: {expr-scorer.a: 0.5, expr-scorer.b: 0}, pick: a}",
                    "kv-aware") == Texts{});
  CHECK(differences("endpoints: [{name: a, kv_usage: 0.25}, {name: b}], "
                    "expect: {scores: {kv-cache-utilization-scorer.a: 0.75}}",
                    "llm-d") == Texts{});
}

TEST_CASE("faults in cases point at their place") {
  CHECK(fault("- {name: x, endpoints: [{name: a}], expect: {pick: b}}") ==
        R"(c.yaml:1:52: [0].expect.pick: no endpoint of this case is named "b"
- {name: x, endpoints: [{name: a}], expect: {pick: b}}
                                                   ^ one of a)");
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a, wating: 1}], expect: {pick: a}}"),
             Catch::Contains("[0].endpoints[0].wating: unknown key") && Catch::Contains("did you mean \"waiting\"?"));
  CHECK_THAT(fault("- {name: x, endpoints: [], expect: {pick: a}}"), Catch::Contains("a case needs an endpoint"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}, {name: a}], expect: {pick: a}}"), Catch::Contains("c.yaml:1:"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a, kv_usage: 1.5}], expect: {pick: a}}"),
             Catch::Contains("kv_usage"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}], expect: {}}"), Catch::Contains("a case must expect something"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}]}"), Catch::Contains("expect"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}], expect: {pick: a, one_of: [a]}}"),
             Catch::Contains("stands beside \"pick\""));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}], expect: {distribution: {a: 0.8, a2: 0.5}}}"),
             Catch::Contains("no endpoint of this case is named \"a2\""));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}], repeat: 2, expect: {sequence: [a]}}"),
             Catch::Contains("stands beside `sequence`"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}], expect: {scores: {a: 1}}}", "random"),
             Catch::Contains("the policy random has no scores"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a}], expect: {scores: {max-score-picker.a: 1}}}"),
             Catch::Contains("max-score-picker is no scorer"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a, weight: 0}], expect: {pick: a}}", "least-request"),
             Catch::Contains("must be above zero"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: a, weight: 0}], expect: {pick: a}}", "weighted"),
             Catch::Contains("every weight is zero"));
  CHECK_THAT(fault("[]"), Catch::Contains("there is no case"));
  CHECK_THAT(fault("- {name: x, endpoints: [{name: none}], expect: {pick: none}}"),
             Catch::Contains("is the word for no endpoint"));
  CHECK_THROWS_WITH(load_policy_under_test("vtc-basic"),
                    Catch::StartsWith("vtc-basic is not modelled: requests here have no tenants"));
  CHECK_THROWS_WITH(load_policy_under_test("device-aware-weighted"),
                    Catch::StartsWith("device-aware-weighted chooses among pools as least-request does"));
  CHECK_THROWS_AS(load_policy_under_test("least-request:2,"), ConfigError);
  CHECK(load_policy_under_test("least-request:2,prefix-cache:1").pipeline->refs->size() >= 2);
  CHECK_THROWS_WITH(load_policy_under_test("lest-request"),
                    "\"lest-request\" is neither a policy nor a file; did you mean \"least-request\"?");
}

TEST_CASE("a case states the limits of the model that expressions read") {
  const TemporaryFolder folder;
  write_file(folder.file("epp.yaml"),
             "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n- type: expr-scorer\n  parameters: "
             "{expression: 'request.prompt_tokens / model.context_limit'}\n");
  const auto of = [&](const std::string& model) {
    return differences(
        "request: {prompt_tokens: 100}, " + model + "endpoints: [{name: a}], expect: {scores: {a: 0.25}}",
        folder.file("epp.yaml"));
  };
  CHECK(of("model: {context_limit: 400}, ").empty());
  CHECK(!of("").empty());
}
