// SPDX-License-Identifier: Apache-2.0
// From contract and catalog to what the gates judge, and what a run says of it.
#include <algorithm>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "scenarios/build.h"
#include "scenarios/build_gates.h"
#include "scenarios/resolve.h"
#include "scenarios/summary_json.h"
#include "scenarios/summary_text.h"
#include "sim/gates.h"
#include "sim/simulation.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;
using Catch::Contains;

namespace {

/// The sound scenario with an evaluation threshold and these implementations.
std::string with(const std::string& implementations, const std::string& contract = "") {
  std::string text = changed("      - {pool: a, precision: fp8}\n      - {pool: b}\n", implementations);
  const std::string at = "    contract:\n";
  text.insert(text.find(at) + at.size(), contract);
  text.replace(text.find("    implementations:"), 4, "    evaluation: {suite: s, threshold: 0.86}\n    ");
  return text;
}

SimulationSpec built(const std::string& text) { return build(loaded(text)).spec; }

Reason evaluation_of(const std::string& results) {
  return built(with("      - {pool: a, evaluation: " + results + "}\n      - {pool: b}\n"))
      .models[0]
      .implementations[0]
      .evaluation;
}

Reason cost_of(const std::string& rule, const std::string& price = "{reserved: $2.10/h per device}") {
  std::string text = changed("    contract:\n", "    contract:\n      cost: " + rule + "\n");
  const std::string stated = "{reserved: $2.10/h per device}";
  text.replace(text.find(stated), stated.size(), price);
  text.replace(text.find("price: none"), 11, "price: {reserved: $4/h}");
  return built(text).models[0].implementations[1].economics;
}

}  // namespace

TEST_CASE("a score passes a threshold with its samples, not by luck") {
  CHECK(evaluation_of("{score: 0.871, samples: 4000}") == Reason::kNone);
  CHECK(evaluation_of("{score: 0.871, samples: 400}") == Reason::kNotConfident);
  CHECK(evaluation_of("{score: 0.8599, samples: 100000000}") == Reason::kBelowThreshold);
  CHECK(evaluation_of("{score: 0.95}") == Reason::kEvaluationSamples);
  CHECK_THROWS_WITH(evaluation_of("{score: 87.1, samples: 4000}"), Catch::Contains("must be at most 1"));
  CHECK(evaluation_of("{samples: 4000}") == Reason::kEvaluationMissing);
  CHECK(evaluation_of("{suite: other, score: 0.99, samples: 4000}") == Reason::kEvaluationMissing);
}

TEST_CASE("of several results of a suite the newest counts, and each with a threshold of its own must pass it") {
  CHECK(
      evaluation_of("[{score: 0.9, samples: 4000, date: 2026-08-02}, {score: 0.5, samples: 4000, date: 2026-08-01}]") ==
      Reason::kNone);
  CHECK(
      evaluation_of("[{score: 0.5, samples: 4000, date: 2026-08-02}, {score: 0.9, samples: 4000, date: 2026-08-01}]") ==
      Reason::kBelowThreshold);
  CHECK(evaluation_of("[{score: 0.9, samples: 4000}, {suite: safety, score: 0.97, samples: 100, threshold: 0.96}]") ==
        Reason::kNotConfident);
}

TEST_CASE("without a threshold nothing is judged, and with one a missing score is a failure") {
  CHECK_FALSE(built(sound_scenario()).gated);
  const SimulationSpec spec = built(with("      - {pool: a}\n      - {pool: b}\n"));
  CHECK(spec.gated);
  CHECK(spec.models[0].implementations[0].evaluation == Reason::kEvaluationMissing);
}

TEST_CASE("a class that nobody may serve is told before the run") {
  const BuiltScenario b = build(loaded(with("      - {pool: a}\n      - {pool: b, status: batch-only}\n")));
  CHECK(std::find(b.facts.notes.begin(), b.facts.notes.end(),
                  "No implementation may serve class fast of chat (a evaluation_missing, b batch_only).") !=
        b.facts.notes.end());
}

TEST_CASE("the assumed cost is price times time of a request among others alike") {
  std::string text =
      changed("curves: roofline", "curves: {step_fit: {base: 10 ms, per_token: 10 us, per_request: 1 ms}}");
  const Scenario scenario = loaded(text);
  const SimulationSpec spec = build(scenario).spec;
  CostRule rule;
  rule.prompt_tokens = 1000;
  rule.output_tokens = 100;
  rule.batch = 10;
  // Prefill: 10 ms + 1000 * 10 us = 20 ms; a step of 10 decodes: 10 ms + 10 * 1 ms = 20 ms, so a request takes
  // 20 ms + 100 * 20 ms / 10 = 220 ms, $2.10 / 3600 s * 0.220 s for 100 tokens.
  CHECK(assumed_cost(rule, scenario.pools[0], spec.pools[0])->value == Approx(2.10 / 3600 * 0.220 * 1e4).epsilon(1e-9));
  rule.batch = 1'000'000;  // no more than the engine runs: 64
  CHECK(assumed_cost(rule, scenario.pools[0], spec.pools[0])->value ==
        Approx(2.10 / 3600 * (0.020 + 100 * (0.010 + 64 * 1e-3) / 64) * 1e4).epsilon(1e-9));
  CHECK_FALSE(assumed_cost(rule, scenario.pools[1], spec.pools[1]));
}

TEST_CASE("cost is judged against a limit and against the incumbent") {
  CHECK(cost_of("{per_million_tokens: $1000}") == Reason::kNone);
  CHECK(cost_of("{per_million_tokens: $0.0001}") == Reason::kCostLimit);
  CHECK(cost_of("{margin: 100 %}") == Reason::kCostMargin);  // twice the price, bf16, and a slower chip
  CHECK(cost_of("{margin: 0 %, incumbent: b}") == Reason::kNone);
  CHECK(cost_of("{margin: 10 %, incumbent: a}", "none") == Reason::kPriceUnknown);
}

TEST_CASE("the incumbent is by default the first implementation in production, in the order of the model") {
  const auto reasons_of = [](const std::string& implementations) {
    std::string text = changed("      - {pool: a, precision: fp8}\n      - {pool: b}\n", implementations);
    text.replace(text.find("    contract:\n"), 14, "    contract:\n      cost: {margin: 0 %}\n");
    text.replace(text.find("price: none"), 11, "price: {reserved: $0.01/h}");
    std::vector<Reason> reasons;
    for (const ImplementationSpec& i : built(text).models[0].implementations) reasons.push_back(i.economics);
    return reasons;
  };
  const std::vector<Reason> dear_first = reasons_of("      - {pool: a, precision: fp8}\n      - {pool: b}\n");
  CHECK(std::count(dear_first.begin(), dear_first.end(), Reason::kCostMargin) == 0);
  const std::vector<Reason> cheap_first = reasons_of("      - {pool: b}\n      - {pool: a, precision: fp8}\n");
  CHECK(std::count(cheap_first.begin(), cheap_first.end(), Reason::kCostMargin) == 1);
}

TEST_CASE("what the contract lets nobody try again is no reason to retry") {
  std::string text = changed("slow: {}", "slow: {retry: {max: 2}}");
  const std::string at = "      limits: {context: 8192}\n";
  text.insert(text.find(at),
              "      errors: {busy: {reasons: [queue_full, saturated]}, late: {reasons: timeout, retry: true}}\n");
  const RetrySpec retry = built(text).classes[1].retry;
  CHECK_FALSE(retry.reasons.has(Reason::kQueueFull));
  CHECK_FALSE(retry.reasons.has(Reason::kSaturated));
  CHECK(retry.reasons.has(Reason::kTimeout));
  CHECK(retry.reasons.has(Reason::kStalled));
  CHECK(built(resolved_yaml(loaded(text))).classes[1].retry == retry);
}

TEST_CASE("data handling keeps a class to regions and pools") {
  std::string text = changed("        slow: {}\n", "        slow: {data_handling: eu}\n");
  const std::string at = "    contract:\n";
  text.insert(text.find(at) + at.size(), "      data_handling: {eu: {regions: [eu-1, eu-2], pools: b}}\n");
  CHECK(built(text).classes[1].barred == std::vector<PoolId>{PoolId(0u), PoolId(1u)});
  text.replace(text.find("  - name: b"), 11, "  - name: b\n    region: eu-2");
  CHECK(built(text).classes[1].barred == std::vector<PoolId>{PoolId(0u)});
  CHECK(built(text).classes[0].barred.empty());
}

TEST_CASE("a class named batch is one, unless it says otherwise") {
  CHECK(loaded(changed("slow: {}", "batch: {}")).models[0].classes[1].batch);
  CHECK_FALSE(loaded(changed("slow: {}", "batch: {batch: false}")).models[0].classes[1].batch);
  CHECK(loaded(changed("slow: {}", "slow: {batch: true}")).models[0].classes[1].batch);
}

namespace {

Summary ran(const std::string& text) {
  BuiltScenario b = build(loaded(text));
  const RunFacts facts = b.facts;
  return summarise(simulate(std::move(b.spec)), facts);
}

}  // namespace

TEST_CASE("a run tells by pool and reason what was refused, in text and in JSON") {
  const Summary summary =
      ran(with("      - {pool: a, evaluation: {score: 0.9, samples: 4000}}\n"
               "      - {pool: b, status: batch-only, evaluation: {score: 0.9, samples: 4000}}\n"));
  const std::string text = summary_text(summary);
  CHECK_THAT(text, Contains("Gates  judged  passed  refused        because"));
  CHECK_THAT(text, Contains("  a        10      10        0              -"));
  CHECK_THAT(text, Contains("  b        10       0       10  batch_only 10"));
  const auto json = nlohmann::json::parse(summary_json(summary));
  const auto gates = json["pools"][1]["gates"];
  CHECK(gates["judged"] == 10);
  CHECK(gates["passed"] == 0);
  CHECK(gates["reasons"]["batch_only"] == 10);
  CHECK(gates["classes"][0]["class"] == "fast");
  CHECK_FALSE(json.contains("compatibility"));
}

TEST_CASE("a run without gates says nothing of them") {
  const Summary summary = ran(sound_scenario());
  CHECK_THAT(summary_text(summary), !Contains("Gates"));
  CHECK(nlohmann::json::parse(summary_json(summary))["pools"][0]["gates"].empty());
}

TEST_CASE("what went to the compatibility pool is told apart") {
  const Summary summary =
      ran(with("      - {pool: a, limits: {output: 9}, evaluation: {score: 0.9, samples: 4000}}\n"
               "      - {pool: b, status: experimental}\n",
               "      compatibility_pool: b\n"));
  CHECK_THAT(summary_text(summary), Contains("10 of fast, which no implementation might serve, to b"));
  const auto json = nlohmann::json::parse(summary_json(summary));
  CHECK(json["compatibility"][0] ==
        nlohmann::json({{"model", "chat"}, {"class", "fast"}, {"pool", "b"}, {"nobody", 10}, {"taken", 10}}));
  CHECK(json["pools"][0]["gates"]["reasons"]["output_limit"] == 10);
}

TEST_CASE("availability is an objective of a class") {
  const Summary met = ran(changed("{ttft: {p99: 2 s}}", "{availability: 99.9 %, ttft: {p99: 2 s}}"));
  CHECK_THAT(summary_text(met), Contains("fast: availability  99.9 %     100 %"));
  CHECK(nlohmann::json::parse(summary_json(met))["classes"][0]["availability"]["met"] == true);
  std::string text = changed("{ttft: {p99: 2 s}}", "{availability: 99.9 %}");
  text.replace(text.find("{context: 8192}"), 15, "{context: 8192, output: 9}");
  const Summary missed = ran(text);
  CHECK_THAT(summary_text(missed), Contains("MISSED"));
  CHECK(nlohmann::json::parse(summary_json(missed))["classes"][0]["availability"]["achieved"] == 0.0);
}
