// SPDX-License-Identifier: Apache-2.0
// Rules of the gateway, from a scenario to its summary.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "scenarios/build.h"
#include "scenarios/gateway_summary.h"
#include "scenarios/summary_json.h"
#include "scenarios/summary_text.h"
#include "sim/simulation.h"
#include "tests/support/example_report.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

Scenario with_gateway(const std::string& gateway) {
  return loaded(changed("{policy: weighted, weights: {a: 3, b: 1}}", gateway));
}

Summary summarised(const std::string& text) {
  BuiltScenario built = build(loaded(text));
  return summarise(simulate(std::move(built.spec)), built.facts);
}

/// Two mirrors of pool 0 into pool 2, which has work of its own.
Summary mirrored(bool counts) {
  ExampleRun run = example_run();
  run.facts.gateway.mirrors = {{PoolId(0u), PoolId(2u), 0.25, counts}};
  MirrorReport copies;
  copies.sent = 80;
  copies.refused = 5;
  copies.measured_tokens = 30'000;
  run.report.gateway.mirrors = {copies};
  run.report.cells[0][2] = completed_cell(100, 100, 1'000'000, 1'000'000);  // 100,000 prompt and 20,000 output tokens
  return summarise(run.report, run.facts);
}

}  // namespace

TEST_CASE("names of other products stand for the same rules") {
  CHECK(build(with_gateway("{policy: simple-shuffle, weights: {a: 3, b: 1}}")).spec.routing.gateway.name == "weighted");
  CHECK(build(with_gateway("{policy: least-busy}")).spec.routing.gateway.name == "least-request");
  CHECK(build(with_gateway("{policy: least-loaded}")).spec.routing.gateway.name == "least-request");
  CHECK(with_gateway("{policy: cost-based-routing}").routing.gateway_policy == "cost-based");
  const auto failover = build(with_gateway("{policy: priority-failover}"));
  CHECK(failover.spec.routing.gateway.name == "weighted");
  CHECK(failover.spec.routing.rules.priority == std::vector<std::int32_t>{0, 1});
  const auto stated = build(with_gateway("{policy: priority-failover, priorities: {a: 4}}"));
  CHECK(stated.spec.routing.rules.priority == std::vector<std::int32_t>{4, 0});
}

TEST_CASE("device-aware-weighted weighs the replicas of a pool: 8, on CPUs 1, or as the file says") {
  const auto weights = [](std::string text) { return build(loaded(text)).spec.routing.gateway.weights; };
  const std::string policy = "{policy: weighted, weights: {a: 3, b: 1}}", by_device = "{policy: device-aware-weighted}";
  CHECK(build(with_gateway(by_device)).spec.routing.gateway.name == "least-request");
  CHECK(weights(changed(policy, by_device)) == std::vector<double>{16, 8});  // two replicas and one
  CHECK(weights(changed(policy, "{policy: device-aware-weighted, weights: {b: 0.5}}")) == std::vector<double>{16, 0.5});
  std::string on_cpu = changed(policy, by_device);
  const std::string device = "accelerator: mi300x";
  REQUIRE(on_cpu.find(device) != std::string::npos);
  on_cpu.replace(on_cpu.find(device), device.size(), "accelerator: {base: mi300x, kind: cpu}");
  CHECK(weights(on_cpu) == std::vector<double>{16, 1});
  CHECK(loaded(on_cpu).routing.gateway_weights == std::vector<double>{8, 1});  // as `check` prints them
}

TEST_CASE("device-aware-weighted sends a canary only what a stated weight does") {
  std::string text = changed("{policy: weighted, weights: {a: 3, b: 1}}", "{policy: device-aware-weighted}");
  const std::size_t at = text.find("{pool: b");
  REQUIRE(at != std::string::npos);
  text.replace(at, 8, "{pool: b, status: canary");
  CHECK(build(loaded(text)).spec.routing.gateway.weights == std::vector<double>{16, 0});
  const std::string policy = "{policy: device-aware-weighted}";
  text.replace(text.find(policy), policy.size(), "{policy: device-aware-weighted, weights: {b: 2}}");
  CHECK(build(loaded(text)).spec.routing.gateway.weights == std::vector<double>{16, 2});
}

TEST_CASE("device-aware-weighted keeps requests in flight in proportion to replicas times weight") {
  // 34 requests that all stay: 32 for weight 16 and 2 for weight 1, whoever got the first.
  std::string text =
      changed("{policy: weighted, weights: {a: 3, b: 1}}", "{policy: device-aware-weighted, weights: {a: 8, b: 1}}");
  const auto change = [&](const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  change("rate: 5/s", "rate: 100000/s");
  change("requests: 10", "requests: 34");
  change("measure: {warm_up: 1 s}", "");
  const Report report = simulate(build(loaded(text)).spec);
  std::vector<std::uint64_t> sent(2);
  for (const ReplicaReport& replica : report.replicas) sent[replica.pool.value] += replica.requests;
  CHECK(sent == std::vector<std::uint64_t>{32, 2});
}

TEST_CASE("cost-based takes the stated price per token, else the price per hour over the tokens of a full batch") {
  const auto stated = build(with_gateway("{policy: cost-based, prices: {a: $0.75/M}}"));
  CHECK(stated.spec.routing.gateway.name == "random");
  REQUIRE(stated.spec.routing.rules.price.size() == 2);
  CHECK(stated.spec.routing.rules.price[0] == 0.75);
  CHECK(stated.spec.routing.rules.price[1] == 1e6);  // `price: none` counts as $1 a token

  const auto computed = build(with_gateway("{policy: cost-based}"));
  const PoolSpec& pool = computed.spec.pools[0];  // 64 at a time, $2.10/h
  const double step_s = pool.curve->decode_line(64, 64 * 1024).at(64 * 1024);
  CHECK(computed.spec.routing.rules.price[0] == Approx(2.10 / (64 / step_s * 3600) * 1e6));
}

TEST_CASE("without rules the summary has no word about the gateway") {
  const Summary s = summarised(sound_scenario());
  CHECK(gateway_text(s).empty());
  CHECK(!nlohmann::json::parse(summary_json(s)).contains("gateway"));
}

TEST_CASE("the summary tells what each rule did") {
  std::string text = changed("weights: {a: 3, b: 1}}", R"(weights: {a: 1},
    fallbacks: {pools: {a: b}}, cooldowns: {pools: a}, mirror: {from: b, to: a, share: 50 %},
    quotas: [{class: fast, requests: 3, per: 1 h, shadow: true}, {tokens: 5000, per: 1 h}]})");
  text.replace(text.find("replicas: 2"), 11, "max_pending_requests: 0");
  text.replace(text.find("max_num_seqs: 64"), 16, "max_num_seqs: 1");
  text.replace(text.find("{ttft: {p99: 2 s}}"), 18, "{ttft: {p99: 2 s}}, retry: {max: 2, backoff: 2 s}");
  text.replace(text.find("rate: 5/s"), 9, "rate: 500/s");
  text.replace(text.find("measure: {warm_up: 1 s}"), 23, "");
  const Summary s = summarised(text);
  const auto json = nlohmann::json::parse(summary_json(s)).at("gateway");
  CHECK(json.at("retries").size() == 2);
  CHECK(json.at("retries")[0].at("class") == "fast");
  CHECK(json.at("retries")[0].at("attempts") == 10);
  REQUIRE(json.at("fallbacks").size() == 1);
  CHECK(json.at("fallbacks")[0].at("from") == "a");
  CHECK(json.at("fallbacks")[0].at("to") == "b");
  CHECK(json.at("fallbacks")[0].at("requests") == 9);
  CHECK(json.at("cooldowns")[0].at("begun") == 1);
  CHECK(json.at("quotas")[0].at("beyond") == 7);
  CHECK(json.at("quotas")[1].at("model").is_null());
  CHECK(json.at("mirrors")[0].at("copies") > 0);
  const std::string lines = gateway_text(s);
  INFO(lines);
  for (const char* part : {"Retries     fast: 0 in 10 tries", "Fallbacks   9 from a to b", "Cooldowns   a: 1 after",
                           "Quotas      fast: 7 of 10 requests beyond 3 requests in 1 h 00 min (counted only); all: ",
                           "copies from b to a"}) {
    INFO(part);
    CHECK(lines.find(part) != std::string::npos);
  }
  CHECK(summary_text(s).find(lines) != std::string::npos);
}

TEST_CASE("copies cost their share of the tokens of their pool, which counts or stands apart") {
  // 8 devices at $1/h for 100 s: $0.2222; 30,000 of 150,000 tokens.
  const double line = 8.0 * 100 / 3600, copies = line * 0.2;
  const Summary counts = mirrored(true), apart = mirrored(false);
  REQUIRE(apart.gateway.mirror_costs[0]);
  CHECK(apart.gateway.mirror_costs[0]->value == Approx(copies));
  CHECK(counts.cost.total->value == Approx(apart.cost.total->value + copies));
  CHECK(counts.cost.per_hour->value == Approx(apart.cost.per_hour->value + copies * 36));
  const double accepted = static_cast<double>(apart.total.outcomes.accepted);
  CHECK(apart.cost.per_accepted_output->value == Approx(apart.cost.total->value / accepted));
  CHECK(apart.pools[2].cost.total->value == Approx(line));
}
