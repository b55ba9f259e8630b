// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kSecond = kNanosPerSecond;
using End = MoveStepReport::End;

/// Two pools of one model; the gateway sends everything to the first.
SimulationSpec two_pools(double step_a, double step_b) {
  SimulationSpec spec = one_pool(fixed_step(step_a));
  spec.pools.push_back(spec.pools[0]);
  spec.pools[0].name = std::string("a");
  spec.pools[1].name = std::string("b");
  spec.pools[1].curve = fixed_step(step_b);
  spec.models[0].implementations.push_back({.pool = PoolId(1u)});
  spec.routing.gateway = {"weighted", {1, 0}};
  spec.routing.pool.resize(2);
  spec.seed = 5;
  return spec;
}

/// `rate` requests a second of 100 + 2 tokens, for `seconds`, from `sessions` sessions in turn.
void add_load(SimulationSpec& spec, int rate, int seconds, std::uint64_t sessions) {
  std::vector<Arrival> arrivals;
  for (int i = 0; i < rate * seconds; ++i) {
    arrivals.push_back(arrival(static_cast<double>(i) / rate, 100, 2));
    if (sessions > 0) arrivals.back().session = static_cast<std::uint64_t>(i) % sessions;
  }
  add_list(spec, std::move(arrivals));
}

MoveSpec move_of(std::vector<double> shares, SimTime length) {
  MoveSpec move;
  move.from = PoolId(0u);
  move.to = PoolId(1u);
  move.start = 10 * kSecond;
  for (const double share : shares) move.steps.push_back({share, length});
  move.roll_back = {{0, 0}};
  move.gates = {{MoveGate::What::kErrorRate, Metric::kTtft, 0, 0.01, false}};
  move.min_requests = 1;
  return move;
}

struct Result {
  Report report;
  std::vector<RequestRecord> records;
  const MoveReport& move() const { return report.moves[0]; }
};

Result run(SimulationSpec spec) {
  Recorder recorder;
  Result result;
  result.report = simulate(std::move(spec), {&recorder});
  result.records = std::move(recorder.records);
  return result;
}

MoveGate ttft(double percentile, double limit, bool relative) {
  return {MoveGate::What::kLatency, Metric::kTtft, percentile, limit, relative};
}

}  // namespace

TEST_CASE("each step moves its share of the requests, within the limits of chance, and the last share stays") {
  SimulationSpec spec = two_pools(1e-3, 1e-3);
  add_load(spec, 200, 60, 0);
  spec.moves.push_back(move_of({0.01, 0.1, 0.5}, 10 * kSecond));
  const Result result = run(std::move(spec));
  REQUIRE(result.move().outcome == MoveReport::Outcome::kCompleted);
  CHECK(result.move().decided == 40 * kSecond);
  const double shares[] = {0, 0.01, 0.1, 0.5, 0.5};
  REQUIRE(result.move().steps.size() == 5);
  for (std::size_t s = 0; s < 5; ++s) {
    const MoveStepReport& step = result.move().steps[s];
    const auto moved = static_cast<double>(step.moved.cell.outcomes.offered);
    const double all = moved + static_cast<double>(step.stayed.cell.outcomes.offered);
    INFO("step " << s << ": " << moved << " of " << all);
    CHECK(all == (s == 4 ? 4000 : 2000));
    CHECK(std::abs(moved - shares[s] * all) <= 4 * std::sqrt(shares[s] * (1 - shares[s]) * all));
    CHECK(step.share == shares[s]);
  }
}

TEST_CASE("a sticky session moves once as the share grows and goes back only when it shrinks") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulationSpec spec = two_pools(1e-3, 1e-3);
    spec.seed = seed;
    add_load(spec, 100, 60, 150);
    spec.moves.push_back(move_of({0.1, 0.2, 0.6, 0.9}, 10 * kSecond));
    const Result result = run(std::move(spec));
    std::map<std::uint64_t, std::vector<PoolId>> pools;
    std::vector<RequestRecord> records = result.records;
    std::sort(records.begin(), records.end(), [](const auto& x, const auto& y) { return x.row < y.row; });
    for (const RequestRecord& r : records) pools[r.session].push_back(r.pool);
    std::size_t moved = 0;
    for (const auto& [session, visited] : pools) {
      INFO("seed " << seed << " session " << session);
      CHECK(std::is_sorted(visited.begin(), visited.end()));
      moved += visited.back() == PoolId(1u);
    }
    CHECK(moved > 115);
  }
}

TEST_CASE("without stickiness a session is on both pools") {
  SimulationSpec spec = two_pools(1e-3, 1e-3);
  add_load(spec, 100, 30, 1);
  spec.moves.push_back(move_of({0.5}, 10 * kSecond));
  spec.moves[0].sticky = Sticky::kRequest;
  const Result result = run(std::move(spec));
  const MoveStepReport& step = result.move().steps[1];
  CHECK(step.moved.cell.outcomes.offered > 400);
  CHECK(step.stayed.cell.outcomes.offered > 400);
}

TEST_CASE("a gate that fails at the end of a step rolls the move back in the stated order") {
  SimulationSpec spec = two_pools(1e-3, 2e-3);  // the first token of b comes after 2 ms
  add_load(spec, 100, 60, 0);
  MoveSpec move = move_of({0.2, 0.6, 0.9}, 10 * kSecond);
  move.gates = {ttft(99, 1.5, true)};
  move.roll_back = {{0.7, kSecond}, {0.1, 2 * kSecond}, {0.05, 3 * kSecond}, {0, 0}};
  spec.moves.push_back(move);
  const Result result = run(std::move(spec));
  CHECK(result.move().outcome == MoveReport::Outcome::kRolledBack);
  CHECK(result.move().decided == 20 * kSecond);
  REQUIRE(result.move().causes.size() == 1);
  CHECK(result.move().causes[0].verdict == GateResult::Verdict::kFailed);
  const auto& steps = result.move().steps;
  REQUIRE(steps.size() == 5);  // before, 20 %, then back over 10 % and 5 %: 70 % is above where it stood
  CHECK(steps[1].ended == End::kFailed);
  CHECK(steps[2].share == 0.1);
  CHECK(steps[2].begin == 20 * kSecond);
  CHECK(steps[3].begin == 22 * kSecond);
  CHECK(steps[4].begin == 25 * kSecond);
  CHECK(steps[4].share == 0);
  CHECK(steps[4].moved.cell.outcomes.offered == 0);
  CHECK(steps[4].stayed.cell.outcomes.offered == 3500);
}

TEST_CASE("an abort threshold is judged within the step, at each interval") {
  SimulationSpec spec = two_pools(1e-3, 2e-3);
  add_load(spec, 100, 60, 0);
  MoveSpec move = move_of({0.5}, 30 * kSecond);
  move.abort = {ttft(50, 1.9e-3, false)};
  move.every = 3 * kSecond;
  spec.moves.push_back(move);
  const Result result = run(std::move(spec));
  CHECK(result.move().decided == 13 * kSecond);
  CHECK(result.move().steps[1].ended == End::kAborted);
  REQUIRE(result.move().causes.size() == 1);
  CHECK(result.move().causes[0].value > 1.9e-3);
}

TEST_CASE("a gate is judged on what is known at that instant: a request that hangs counts with its wait so far") {
  SimulationSpec spec = two_pools(1e-3, 1000);  // b answers nothing within the run
  add_load(spec, 100, 60, 0);
  MoveSpec move = move_of({0.5}, 10 * kSecond);
  move.gates = {ttft(50, 4, false)};
  spec.moves.push_back(move);
  const Result result = run(std::move(spec));
  CHECK(result.move().outcome == MoveReport::Outcome::kRolledBack);
  REQUIRE(result.move().causes.size() == 1);
  CHECK(*result.move().causes[0].value == Approx(5).margin(0.5));  // half have waited for 5 s and more
}

TEST_CASE("too few requests are no evidence: the step does not pass") {
  SimulationSpec spec = two_pools(1e-3, 1e-3);
  add_load(spec, 100, 60, 0);
  MoveSpec move = move_of({0.01}, kSecond);
  move.min_requests = 50;
  spec.moves.push_back(move);
  const Result result = run(std::move(spec));
  CHECK(result.move().outcome == MoveReport::Outcome::kRolledBack);
  REQUIRE(result.move().causes.size() == 1);
  CHECK(result.move().causes[0].verdict == GateResult::Verdict::kTooFew);
}

TEST_CASE("a request that the new pool cannot take stays, is counted with its reason, and fails a gate") {
  SimulationSpec spec = two_pools(1e-3, 1e-3);
  add_load(spec, 100, 60, 0);
  spec.models[0].implementations[1].context_limit = 50;
  MoveSpec move = move_of({0.5}, 10 * kSecond);
  move.gates = {{MoveGate::What::kEligible, Metric::kTtft, 0, 0.9, false}};
  spec.moves.push_back(move);
  const Result result = run(std::move(spec));
  const MoveStepReport& step = result.move().steps[1];
  CHECK(step.not_taken == step.chosen);
  CHECK(step.reasons[static_cast<std::size_t>(Reason::kContextLimit)] == step.chosen);
  CHECK(step.ended == End::kFailed);
  CHECK(*step.gates[0].value == 0);
  for (const RequestRecord& r : result.records) CHECK(r.pool == PoolId(0u));
}

TEST_CASE("an implementation that failed its evaluation gets no traffic") {
  SimulationSpec spec = two_pools(1e-3, 1e-3);
  add_load(spec, 100, 60, 0);
  spec.moves.push_back(move_of({0.5}, 10 * kSecond));
  spec.moves[0].qualified = false;
  const Result result = run(std::move(spec));
  CHECK(result.move().outcome == MoveReport::Outcome::kNotQualified);
  CHECK(result.move().steps.size() == 1);
}

TEST_CASE("a move of one class leaves the others where they are, and a run ends with its load") {
  SimulationSpec spec = two_pools(1e-3, 1e-3);
  spec.classes.push_back(spec.classes[0]);
  add_load(spec, 100, 30, 0);
  std::vector<Arrival> others;
  for (int i = 0; i < 3000; ++i) {
    others.push_back(arrival(i * 0.01, 100, 2));
    others.back().cls = ClassId(1u);
  }
  add_list(spec, std::move(others));
  MoveSpec move = move_of({1.0}, 3600 * kSecond);
  move.cls = ClassId(1u);
  spec.moves.push_back(move);
  const Result result = run(std::move(spec));
  for (const RequestRecord& r : result.records) {
    CHECK(r.pool == PoolId(r.cls == ClassId(1u) && r.at.intended >= 10 * kSecond ? 1u : 0u));
  }
  CHECK(result.move().outcome == MoveReport::Outcome::kRunEnded);
  CHECK(result.report.end < 31 * kSecond);
}

TEST_CASE("the new pool begins with a cold cache, and the first part of a step tells it") {
  SimulationSpec spec = two_pools(1e-3, 1e-3);
  for (PoolSpec& pool : spec.pools) pool.vllm().enable_prefix_caching = true;
  SynthSpec synth;
  synth.duration = 60 * kSecond;
  synth.arrivals.rate_per_s = 50;
  synth.prompt_tokens = {LengthSpec::Kind::kFixed, 16, 0, 1, INT64_MAX, {}};
  synth.output_tokens = {LengthSpec::Kind::kFixed, 4, 0, 1, INT64_MAX, {}};
  synth.shared_prefix = {40, 0, {LengthSpec::Kind::kFixed, 320, 0, 1, INT64_MAX, {}}};
  SourceSpec source;
  source.source = make_source(synth, ClassId(0u), 0, spec.seed, "workload/0");
  spec.sources.push_back(std::move(source));
  MoveSpec move = move_of({0.5}, 20 * kSecond);
  move.rewarm = kSecond;
  spec.moves.push_back(move);
  const Result result = run(std::move(spec));
  const MoveStepReport& step = result.move().steps[1];
  const auto rate = [](const Warmth& w) {
    return static_cast<double>(w.cached_tokens) / static_cast<double>(w.prompt_tokens);
  };
  CHECK(rate(step.moved.first) < 0.6);
  CHECK(rate(step.moved.all) > 0.8);
  CHECK(rate(step.stayed.first) > 0.9);
  const Warmth& w = step.moved.all;
  CHECK(w.ideal_tokens - w.cached_tokens == 40 * 320);  // each shared prefix was computed once more
}
