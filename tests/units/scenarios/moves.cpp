// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "scenarios/resolve.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kMove = R"(move:
  from: a
  to: b
  class: slow
  start: 90 s
  steps: [{share: 5 %, for: 1 min}, {share: 40 %, for: 90 s}]
  sticky: none
  gates: {correctness: {threshold: 0.8, confidence: 90 %}, ttft: {p50: 1.25x, p99: 900 ms}, tpot: {p95: 40 ms}, error_rate: 2 %, eligible: 97.5 %, cost: 3 %}
  abort: {every: 10 s, e2e: {p90: 2x}, error_rate: 20 %}
  min_requests: 7
  rewarm: 20 s
  roll_back: [{share: 20 %, for: 30 s}, {share: 1 %, for: 1 min}, {share: 0 %}]
)";

bool same(const std::vector<MoveGate>& a, const std::vector<MoveGate>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MoveGate& x, const MoveGate& y) {
    return x.what == y.what && x.metric == y.metric && x.percentile == y.percentile && x.limit == y.limit &&
           x.relative == y.relative;
  });
}

bool same(const std::vector<MoveStep>& a, const std::vector<MoveStep>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const MoveStep& x, const MoveStep& y) { return x.share == y.share && x.length == y.length; });
}

/// Whether the move of `slow` may begin with this evaluation of `b`.
bool may_begin(const std::string& evaluation) {
  std::string text = sound_scenario() + kMove;
  text.replace(text.find("{pool: b}"), 9, "{pool: b, evaluation: " + evaluation + "}");
  return build(loaded(text)).spec.moves.at(0).qualified;
}

}  // namespace

TEST_CASE("a move is read with all its keys, and what check prints gives the same move") {
  const Scenario scenario = loaded(sound_scenario() + kMove);
  REQUIRE(scenario.moves.size() == 1);
  const MoveEntry& move = scenario.moves[0];
  CHECK(move.spec.from == PoolId(0u));
  CHECK(move.spec.to == PoolId(1u));
  CHECK(move.spec.cls == ClassId(1u));
  CHECK(move.spec.start == 90 * kNanosPerSecond);
  REQUIRE(move.spec.steps.size() == 2);
  CHECK(move.spec.steps[1].share == 0.4);
  CHECK(move.spec.gates.size() == 5);
  CHECK(move.spec.gates[0].relative);
  CHECK(move.spec.gates[0].limit == 1.25);
  CHECK(move.spec.abort.size() == 2);
  CHECK(move.spec.roll_back.size() == 3);
  CHECK(move.spec.sticky == Sticky::kRequest);
  CHECK(move.cost_margin == 0.03);

  const std::string text = resolved_yaml(scenario);
  const Scenario again = loaded(text);
  CHECK(resolved_yaml(again) == text);
  REQUIRE(again.moves.size() == 1);
  const MoveSpec &x = move.spec, &y = again.moves[0].spec;
  CHECK(x.cls == y.cls);
  CHECK(x.start == y.start);
  CHECK(same(x.steps, y.steps));
  CHECK(same(x.roll_back, y.roll_back));
  CHECK(same(x.gates, y.gates));
  CHECK(same(x.abort, y.abort));
  CHECK(x.every == y.every);
  CHECK(x.min_requests == y.min_requests);
  CHECK(x.rewarm == y.rewarm);
  CHECK(x.sticky == y.sticky);
  CHECK(again.moves[0].correctness->confidence == 0.9);
  CHECK(again.moves[0].cost_margin == 0.03);
}

TEST_CASE("a move changes the digest of its scenario") {
  CHECK(scenario_digest(loaded(sound_scenario() + kMove)) != scenario_digest(loaded(sound_scenario())));
}

TEST_CASE("a score counts by the lower end of its interval, so a small sample does not pass by luck") {
  CHECK(may_begin("{score: 0.82, samples: 1000}"));       // lower end 0.8038 at 90 %, z = 1.2816
  CHECK_FALSE(may_begin("{score: 0.82, samples: 500}"));  // 0.7969
  CHECK_FALSE(may_begin("{score: 0.79, samples: 100000}"));
  CHECK_FALSE(may_begin("{score: 0.9}"));
}

TEST_CASE("options change a move") {
  const Scenario scenario = loaded(sound_scenario() + kMove, {"move.steps[1].share=60 %", "move.gates.ttft.p99=2 s"});
  CHECK(scenario.moves[0].spec.steps[1].share == 0.6);
  CHECK(scenario.moves[0].spec.gates[1].limit == 2);
}
