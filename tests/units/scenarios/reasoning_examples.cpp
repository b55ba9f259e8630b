// SPDX-License-Identifier: Apache-2.0
// The model on three pools, and the two moves that are built on it.
#include <catch2/catch.hpp>

#include "scenarios/build.h"
#include "scenarios/compare.h"
#include "scenarios/load.h"
#include "sim/simulation.h"
#include "tests/support/scenario_text.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

Scenario example(const std::string& name) {
  return load_scenario(POOLCAST_SOURCE_DIR "/scenarios/examples/" + name, source_catalog());
}

Comparison rehearsed(const std::string& name) {
  Scenario base = example(name);
  const Scenario candidate = base;
  base.moves.clear();
  CompareOptions options;
  options.replications = 3;
  return compare(base, candidate, options);
}

std::uint64_t refused(const Report& report, std::size_t cls, std::size_t pool, Reason reason) {
  return report.gates.counts[cls][pool][static_cast<std::size_t>(reason)];
}

}  // namespace

TEST_CASE("the reasoning model goes by its gates: chat never to Trainium, batches only where a shape was compiled") {
  const Report report = simulate(build(example("reasoning_model.yaml")).spec);
  CHECK(refused(report, 0, 0, Reason::kNone) > 8000);
  CHECK(refused(report, 0, 1, Reason::kNone) == refused(report, 0, 0, Reason::kNone));
  CHECK(refused(report, 0, 2, Reason::kBatchOnly) == refused(report, 0, 0, Reason::kNone));
  CHECK(refused(report, 1, 2, Reason::kShape) > 0);
  CHECK(report.cells[0][2].outcomes.offered == 0);
  CHECK(report.cells[1][2].outcomes.offered > 100);
}

TEST_CASE("half of the chat traffic of the reasoning model moves to MI300 in five steps: go") {
  const Comparison c = rehearsed("reasoning_move_mi300.yaml");
  CHECK(c.moves.at(0).completed == 3);
  CHECK(c.verdict == Verdict::kGo);
}

TEST_CASE("the same move to Trainium fails on compiled shapes and on the stalls of compiling: no-go") {
  const Comparison c = rehearsed("reasoning_move_trainium.yaml");
  CHECK(c.moves.at(0).rolled_back == 3);
  CHECK(c.verdict == Verdict::kNoGo);
  const MoveReport& move = c.moves[0].first.report;
  bool shapes = false, stalls = false;
  for (const GateResult& cause : move.causes) {
    shapes |= cause.gate.what == MoveGate::What::kEligible;
    stalls |= cause.gate.what == MoveGate::What::kLatency && cause.gate.metric == Metric::kTtft && *cause.value > 45;
  }
  CHECK(shapes);
  CHECK(stalls);
  CHECK(move.steps[1].reasons[static_cast<std::size_t>(Reason::kShape)] == move.steps[1].not_taken);
}
