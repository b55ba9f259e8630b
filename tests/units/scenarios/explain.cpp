// SPDX-License-Identifier: Apache-2.0
// explain: one request of a run, its choices and steps; the first that went elsewhere.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "scenarios/explain.h"
#include "scenarios/explain_text.h"
#include "sim/gates.h"
#include "sim/routing/lua_plugins.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kExamples = POOLCAST_SOURCE_DIR "/scenarios/examples/";

ExplainOptions example(const std::string& name, std::uint64_t row, std::vector<std::string> overrides = {}) {
  return {kExamples + name, std::move(overrides), 0, row};
}

using Kind = DecisionLog::Stage::Kind;

}  // namespace

TEST_CASE("the steps of a request account for every token and every instant of its record") {
  for (const std::uint64_t row : {0u, 700u, 1500u}) {
    const Explanation e = explain(example("llmd_routing.yaml", row));
    const RequestRecord& r = e.request;
    CHECK(r.row == row);
    REQUIRE(e.log.stages.size() >= 2);
    CHECK(e.log.stages.front().kind == Kind::kQueued);
    CHECK(e.log.stages.front().start == r.at.queued);
    CHECK(e.log.stages[1].start == r.at.first_scheduled);
    CHECK(e.log.stages.back().end == r.ended);
    std::int64_t prefill = 0, decode = 0;
    SimTime first_token = 0;
    for (const auto& s : e.log.stages) {
      if (s.kind == Kind::kPrefill) prefill += s.tokens, first_token = s.end;
      if (s.kind == Kind::kDecode) decode += s.tokens;
      CHECK(s.replica == r.replica);
    }
    CHECK(prefill == r.prompt_tokens - r.cached_tokens);
    CHECK(decode == r.output_tokens - 1);
    CHECK(first_token == r.at.first_token);
  }
}

TEST_CASE("a picker's choice is told with what it saw, every score and the totals that follow") {
  if (!routing::lua_built_in()) return;
  const Explanation e = explain(example("scripted_routing.yaml", 900));
  REQUIRE(e.log.pipelines.size() == 1);
  const auto& choice = e.log.pipelines[0];
  const auto& t = choice.trace;
  CHECK(choice.chosen == e.request.replica.value);
  CHECK(t.open.size() == 4);
  REQUIRE(t.filters.size() == 1);
  CHECK(t.filters[0].plugin == "not-full");
  REQUIRE(t.scorers.size() == 2);
  CHECK(t.scorers[0].plugin == "spare-room");
  CHECK(t.scorers[0].weight == 2);
  for (std::size_t i = 0; i < t.kept.size(); ++i) {
    CHECK(t.totals[i] == 2 * t.scorers[0].scores[i] + t.scorers[1].scores[i]);
    const std::uint32_t replica = t.kept[i];
    if (e.request.prompt_tokens > 4000) continue;
    CHECK(t.scorers[0].scores[i] == 1 / (1 + static_cast<double>(choice.seen.waiting[replica]) +
                                         static_cast<double>(choice.seen.running[replica]) / 64));
  }
  const std::string text = explanation_text(e);
  CHECK_THAT(text, Catch::Contains("spare-room x2"));
  CHECK_THAT(text, Catch::Contains("<- chosen"));
  const auto json = nlohmann::json::parse(explanation_json(e));
  CHECK(json["pipelines"][0]["scores"][0]["by_plugin"]["spare-room"] == t.scorers[0].scores[0]);
  CHECK(json["request"]["ended_ns"] == e.request.ended);
}

TEST_CASE("explaining changes nothing: the record is that of the run") {
  const auto options = example("llmd_routing.yaml", 321);
  const Explanation once = explain(options), again = explain(options);
  CHECK(explanation_json(once) == explanation_json(again));
}

TEST_CASE("a request, a source or a scenario that is not there is told") {
  CHECK_THROWS_WITH(explain(example("quickstart.yaml", 2000)),
                    Catch::Contains("source 0 of the workload has no request 2000; its rows end at 1999"));
  ExplainOptions wrong = example("quickstart.yaml", 0);
  wrong.source = 1;
  CHECK_THROWS_WITH(explain(wrong), Catch::Contains("the workload has no source 1; its sources are 0 to 0"));
}

TEST_CASE("two runs of one scenario send nothing elsewhere; two policies do, and the first is explained in both") {
  const std::vector<std::string> few = {"workload.synth.requests=300"};
  auto same = explain_difference(example("llmd_routing.yaml", 0, few), example("llmd_routing.yaml", 0, few));
  CHECK(same.requests == 300);
  CHECK(same.elsewhere == 0);
  CHECK_FALSE(same.first);
  auto other = few;
  other.push_back("routing.pool={policy: round-robin}");
  const auto d = explain_difference(example("llmd_routing.yaml", 0, few), example("llmd_routing.yaml", 0, other));
  CHECK(d.elsewhere > 100);
  REQUIRE(d.first);
  CHECK(d.first->base.request.row == d.first->candidate.request.row);
  CHECK(d.first->base.request.replica != d.first->candidate.request.replica);
  for (std::uint64_t row = 0; row < d.first->base.request.row; ++row) {  // none before it
    CHECK(explain(example("llmd_routing.yaml", row, few)).request.replica ==
          explain(example("llmd_routing.yaml", row, other)).request.replica);
  }
  auto fewer = few;
  fewer.push_back("workload.synth.requests=200");
  CHECK(explain_difference(example("llmd_routing.yaml", 0, few), example("llmd_routing.yaml", 0, fewer)).unpaired ==
        100);
}

TEST_CASE("the request of the JSON has every column of results.h5 and agrees with the record") {
  const Explanation e = explain(example("gateway_rules.yaml", 40));
  const auto request = nlohmann::json::parse(explanation_json(e))["request"];
  for (const char* column : {"intended_ns",
                             "sent_ns",
                             "routed_ns",
                             "queued_ns",
                             "first_scheduled_ns",
                             "first_token_ns",
                             "last_token_ns",
                             "ended_ns",
                             "source",
                             "row",
                             "session",
                             "class",
                             "model",
                             "pool",
                             "replica",
                             "prompt_tokens",
                             "output_tokens",
                             "output_target_tokens",
                             "cached_tokens",
                             "recomputed_tokens",
                             "preemptions",
                             "priority",
                             "outcome",
                             "reason",
                             "accepted",
                             "measured",
                             "retries"}) {
    CAPTURE(column);
    CHECK(request.contains(column));
  }
  CHECK(request["routed_ns"] == e.request.at.routed);
  CHECK(request["queued_ns"] == e.request.at.queued);
  CHECK(request["session"] == e.request.session);
}

TEST_CASE("a request beyond the contract is told to have asked no pool") {
  const auto short_contract = {std::string("models.llama-8b.contract.limits.context=200"),
                               std::string("workload.synth.requests=50")};
  const Explanation e = explain(example("quickstart.yaml", 3, short_contract));
  REQUIRE(e.request.reason == Reason::kContextLimit);
  CHECK_THAT(explanation_text(e), Catch::Contains("rejected (context_limit)") &&
                                      Catch::Contains("beyond the limits of the contract: no pool was asked"));
  CHECK_THAT(explanation_text(explain(example("quickstart.yaml", 3))), !Catch::Contains("no pool was asked"));
}

TEST_CASE("every key of the JSON stands in explain.md") {
  if (!routing::lua_built_in()) return;
  const std::string text = read_file(POOLCAST_SOURCE_DIR "/scenarios/explain.md");
  const auto json = nlohmann::json::parse(explanation_json(explain(example("scripted_routing.yaml", 10))));
  const auto check = [&](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items()) {
      CAPTURE(key);
      CHECK_THAT(text, Catch::Contains("`" + key + "`"));
    }
  };
  check(json);
  check(json["pipelines"][0]);
  check(json["pipelines"][0]["replicas"][0]);
  for (const auto& stage : json["stages"]) check(stage);
}

TEST_CASE("the gateway's choice is told with every gate of every implementation") {
  const Explanation e = explain(example("reasoning_model.yaml", 100));
  REQUIRE(e.log.gateway.size() == 1);
  const auto& choice = e.log.gateway[0];
  CHECK(choice.chosen == e.request.pool.value);
  REQUIRE(choice.candidates.size() == 3);
  for (const auto& c : choice.candidates) {
    REQUIRE(c.gates.size() == static_cast<std::size_t>(kGates));
    const bool passed = std::all_of(c.gates.begin(), c.gates.end(), [](Reason r) { return r == Reason::kNone; });
    CHECK(passed == (c.refused == Reason::kNone));
    if (c.index == choice.chosen) CHECK(passed);
  }
  CHECK(choice.candidates[2].gates[static_cast<std::size_t>(Gate::kArtifact)] == Reason::kBatchOnly);
  CHECK_THAT(explanation_text(e), Catch::Contains("no: batch_only") && Catch::Contains("economics"));
}

namespace {

using Why = DecisionLog::Turn::Why;

/// Where the turns of the gateway end; not valid: nowhere.
PoolId end_of_way(const Explanation& e) {
  PoolId pool;
  for (const DecisionLog::Turn& turn : e.log.way) {
    if (turn.why == Why::kMirror || (turn.why == Why::kMove && turn.refused != Reason::kNone)) continue;
    pool = turn.refused == Reason::kNone ? turn.pool : PoolId();
  }
  return pool;
}

bool has(const Explanation& e, Why why) {
  return std::any_of(e.log.way.begin(), e.log.way.end(), [&](const auto& turn) { return turn.why == why; });
}

}  // namespace

TEST_CASE("the way of a request by the gateway's rules ends where it was served") {
  std::vector<bool> seen(8, false);
  for (std::uint64_t row = 203; row < 320; row += 6) {
    ExplainOptions options = example("gateway_rules.yaml", row);
    options.source = row % 12 == 11 ? 1 : 0;
    const Explanation e = explain(options);
    CAPTURE(options.source, options.row);
    if (e.request.outcome == Outcome::kCompleted) CHECK(end_of_way(e) == e.request.pool);
    for (const auto& turn : e.log.way) seen[static_cast<std::size_t>(turn.why)] = true;
    for (const auto& stage : e.log.stages) CHECK(stage.replica == e.request.replica);  // not those of a copy
  }
  ExplainOptions to_other_model = example("gateway_rules.yaml", 247);
  to_other_model.source = 1;
  const Explanation e = explain(to_other_model);
  CHECK(e.log.way.back().model != e.request.model);
  CHECK(end_of_way(e) == e.request.pool);
  CHECK_THAT(explanation_text(e), Catch::Contains("as chat-long: the policy chooses long"));
  CHECK(seen[static_cast<std::size_t>(Why::kSession)]);
  CHECK(seen[static_cast<std::size_t>(Why::kFallback)]);
}

TEST_CASE(
    "explain tells that a move sent a request on, which pool computed its prompt, and which rule kept a pool out") {
  const Explanation moved = explain(example("move.yaml", 1381));
  REQUIRE(has(moved, Why::kMove));
  CHECK(end_of_way(moved) == moved.request.pool);
  CHECK_THAT(explanation_text(moved), Catch::Contains("a move sends it on to mi300"));

  const Explanation apart = explain(example("disaggregated.yaml", 5));
  REQUIRE(apart.log.gateway.size() == 2);
  CHECK(!apart.log.gateway[0].prefill);
  CHECK(apart.log.gateway[0].candidates.size() == 1);
  CHECK(apart.log.gateway[1].prefill);
  CHECK(apart.log.gateway[1].candidates[0].gates.size() == static_cast<std::size_t>(kGates));

  const Explanation tier = explain(
      example("quickstart.yaml", 9, {"routing={gateway: {policy: priority-failover, priorities: {google: 1}}}"}));
  REQUIRE(tier.log.gateway.size() == 1);
  CHECK(tier.log.gateway[0].candidates[0].kept_out == DecisionLog::KeptOut::kNo);
  CHECK(tier.log.gateway[0].candidates[1].kept_out == DecisionLog::KeptOut::kPriority);
  CHECK_THAT(explanation_text(tier), Catch::Contains("no: rule: priority"));
}

TEST_CASE("the difference of two policies is told in a line") {
  const std::vector<std::string> few = {"workload.synth.requests=300"};
  auto other = few;
  const auto why = [&](const std::string& setting) {
    other.push_back(setting);
    const auto d = explain_difference(example("llmd_routing.yaml", 0, few), example("llmd_routing.yaml", 0, other));
    other.pop_back();
    return difference_text(d);
  };
  CHECK_THAT(why("routing.pool={policy: round-robin}"),
             Catch::Contains("Why: the replica is chosen by an endpoint picker, then by round-robin"));
  CHECK_THAT(why("routing.pool={policy: least-kv-cache}"), Catch::Contains("(weighted) puts replica"));
  const auto quick = [](const std::vector<std::string>& then) {
    return difference_text(explain_difference(example("quickstart.yaml", 0, {"workload.synth.requests=300"}),
                                              example("quickstart.yaml", 0, then)));
  };
  CHECK_THAT(quick({"workload.synth.requests=300",
                    "routing={policy: weighted, gateway: {policy: weighted, weights: {google: 1}}}"}),
             Catch::Contains("keeps nvidia out") && Catch::Contains("(weight)"));
}
