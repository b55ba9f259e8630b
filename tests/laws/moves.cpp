// SPDX-License-Identifier: Apache-2.0
// Moves of traffic in random worlds: nothing depends on how a run is cut into leaps.
#include <catch2/catch.hpp>

#include "sim/random.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = kNanosPerSecond / 1000;

/// A move of random pace, with gates that random worlds pass sometimes.
void add_move(SimulationSpec& spec, std::uint64_t seed) {
  RandomStream random(seed, "test/move");
  const auto pick = [&](std::uint64_t most) { return static_cast<SimTime>(random.below(most) + 1); };
  MoveSpec move;
  move.from = PoolId(0u);
  move.to = PoolId(1u);
  move.start = pick(300) * kMs;
  double share = 0;
  for (int i = 0; i < 4; ++i) move.steps.push_back({share += 0.1 + random.uniform() * 0.15, pick(800) * kMs});
  move.roll_back = {{0.3, 200 * kMs}, {0.1, 300 * kMs}, {0, 0}};
  move.gates = {{MoveGate::What::kLatency, Metric::kTtft, 90, 0.5 + 20 * random.uniform(), true},
                {MoveGate::What::kErrorRate, Metric::kTtft, 0, 0.9 * random.uniform(), false}};
  move.abort = {{MoveGate::What::kLatency, Metric::kE2e, 90, 60 * random.uniform(), false},
                {MoveGate::What::kEligible, Metric::kTtft, 0, 0.7 * random.uniform(), false}};
  move.every = pick(1000) * kMs;
  move.min_requests = 1 + random.below(3);
  move.sticky = random.uniform() < 0.5 ? Sticky::kSession : Sticky::kRequest;
  spec.moves.push_back(move);
}

struct Seen {
  std::uint64_t worlds = 0, moved = 0, completed = 0, aborted = 0, failed = 0, not_taken = 0;
};

void look(const Report& report, Seen& seen) {
  for (const MoveReport& move : report.moves) {
    seen.completed += move.outcome == MoveReport::Outcome::kCompleted;
    for (const MoveStepReport& step : move.steps) {
      seen.moved += step.moved.cell.outcomes.offered;
      seen.not_taken += step.not_taken;
      seen.aborted += step.ended == MoveStepReport::End::kAborted;
      seen.failed += step.ended == MoveStepReport::End::kFailed;
    }
  }
}

}  // namespace

TEST_CASE("moves of traffic give the same bits by leaps and by single steps on random worlds") {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto world = [&] {
      SimulationSpec spec = seed % 2 == 0 ? random_prefix_world(seed) : random_world(seed);
      if (spec.pools.size() > 1) add_move(spec, seed);
      return spec;
    };
    if (world().moves.empty()) continue;
    Report report;
    const std::string leap = fingerprint_of(world(), false, &report);
    const std::string stepwise = fingerprint_of(world(), true);
    INFO("world " << seed);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    ++seen.worlds;
    look(report, seen);
  }
  INFO(seen.worlds << " worlds, " << seen.moved << " moved, " << seen.completed << " completed, " << seen.aborted
                   << " aborted, " << seen.failed << " failed, " << seen.not_taken << " not taken");
  CHECK(seen.worlds > 100);
  CHECK(seen.moved > 1000);
  CHECK(seen.completed > 3);
  CHECK(seen.aborted > 10);
  CHECK(seen.failed > 10);
  CHECK(seen.not_taken > 10);
}
