// SPDX-License-Identifier: Apache-2.0
// Random catalogs: no implementation that the gates refuse ever serves a request, and nothing depends on how a run is
// cut into leaps.
#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include "sim/gates.h"
#include "sim/random.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr Reason kEvaluations[] = {Reason::kEvaluationMissing, Reason::kEvaluationSamples, Reason::kBelowThreshold,
                                   Reason::kNotConfident};
constexpr Reason kCosts[] = {Reason::kPriceUnknown, Reason::kCostLimit, Reason::kCostMargin};

/// Contract, statuses, limits, shapes, scores and costs at random; a compatibility pool and a move in some worlds.
void add_catalog(SimulationSpec& spec, std::uint64_t seed) {
  RandomStream random(seed, "test/catalog");
  const auto chance = [&](double p) { return random.uniform() < p; };
  const auto length = [&] { return static_cast<std::int64_t>(10 + random.below(400)); };
  spec.gated = true;
  ModelSpec& model = spec.models[0];
  model.streaming = chance(0.3);
  if (chance(0.2)) model.input_limit = length();
  for (ImplementationSpec& implementation : model.implementations) {
    if (chance(0.5)) implementation.status = static_cast<ImplementationStatus>(random.below(5));
    if (chance(0.2)) implementation.input_limit = length();
    if (chance(0.2)) implementation.output_limit = length();
    if (chance(0.4)) implementation.shapes = {{length(), length()}, {length(), 2 * length()}};
    if (chance(0.15)) implementation.evaluation = kEvaluations[random.below(4)];
    if (chance(0.15)) implementation.economics = kCosts[random.below(3)];
    if (chance(0.15)) implementation.streams = false;
  }
  for (ClassSpec& cls : spec.classes) {
    cls.batch = chance(0.4);
    if (chance(0.3)) cls.barred = {PoolId(random.below(spec.pools.size()))};
  }
  const bool whole = spec.pools.back().role == PoolRole::kBoth;
  if (whole && chance(0.4)) model.compatibility = PoolId(spec.pools.size() - 1);
  if (chance(0.5)) {
    spec.routing.gateway.name = "weighted";
    for (std::size_t p = 0; p < spec.pools.size(); ++p) spec.routing.gateway.weights.push_back(chance(0.3) ? 0 : 1);
    spec.routing.gateway.weights[0] = 1;
  }
  if (spec.pools.size() < 2 || spec.pools[0].role != PoolRole::kBoth || spec.pools[1].role != PoolRole::kBoth) return;
  MoveSpec move;
  move.from = PoolId(0u);
  move.to = PoolId(1u);
  move.steps = {{0.7, 500'000'000}};
  move.roll_back = {{0, 0}};
  move.gates = {{MoveGate::What::kErrorRate, Metric::kTtft, 0, 1, false}};
  if (chance(0.5)) spec.moves.push_back(move);
}

SimulationSpec world(std::uint64_t seed) {
  SimulationSpec spec = seed % 3 == 0   ? random_disaggregated_world(seed)
                        : seed % 3 == 1 ? random_prefix_world(seed)
                                        : random_world(seed);
  add_catalog(spec, seed);
  return spec;
}

struct Seen {
  std::uint64_t served = 0, moved = 0, last = 0, refused = 0;
  std::array<std::uint64_t, kReasons> reasons{};
};

/// Judges by all six gates, one by one, what a run has served.
void check_served(const SimulationSpec& spec, const std::vector<RequestRecord>& records, Seen& seen) {
  const Gates gates(spec);
  std::vector<PoolId> pool_of;
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    for (std::int32_t r = 0; r < spec.pools[p].replicas * spec.pools[p].ranks; ++r) pool_of.push_back(PoolId(p));
  }
  for (const RequestRecord& r : records) {
    if (!r.replica.valid()) {
      ++seen.refused;
      ++seen.reasons[static_cast<std::size_t>(r.reason)];
      continue;
    }
    ++seen.served;
    const auto passes = [&](PoolId pool, Via via) { return gates.judge_all(r, pool, true, via).passed(); };
    const PoolId pool = pool_of[r.replica.value];
    const bool weighed = spec.routing.gateway.weights.empty() || spec.routing.gateway.weights[pool.value] > 0;
    const bool last = pool == spec.models[0].compatibility;
    bool nobody = true;
    for (const ImplementationSpec& other : spec.models[0].implementations) {
      const auto& weights = spec.routing.gateway.weights;
      if (other.pool == pool || spec.pools[other.pool.value].role == PoolRole::kPrefill) continue;
      if (!weights.empty() && weights[other.pool.value] == 0) continue;
      nobody &= !passes(other.pool, Via::kGateway);
    }
    const bool moved = !spec.moves.empty() && pool == spec.moves[0].to;
    const bool by_move = moved && passes(pool, Via::kMove);
    CHECK((last ? (nobody && passes(pool, Via::kCompatibility)) || by_move
                : (weighed && passes(pool, Via::kGateway)) || by_move));
    if (r.prefill_replica.valid()) CHECK(passes(pool_of[r.prefill_replica.value], Via::kGateway));
    seen.moved += moved && !weighed;
    seen.last += last;
  }
}

}  // namespace

TEST_CASE("no implementation that is not eligible ever serves a request, on random catalogs") {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    INFO("laws 'no implementation that is not eligible*', world " << seed);
    Recorder recorder;
    const Report report = simulate(world(seed), {&recorder});
    check_served(world(seed), recorder.records, seen);
    for (std::size_t c = 0; c < report.gates.nobody.size(); ++c) {
      CHECK(report.gates.compatibility[c] <= report.gates.nobody[c]);
    }
  }
  CHECK(seen.served > 10'000);
  CHECK(seen.refused > 1'000);
  CHECK(seen.moved > 100);
  CHECK(seen.last > 100);
  for (const Reason reason :
       {Reason::kShape, Reason::kBatchOnly, Reason::kCanary, Reason::kRetired, Reason::kExperimental,
        Reason::kInputLimit, Reason::kNotConfident, Reason::kCostLimit, Reason::kNoStreaming, Reason::kDataHandling}) {
    INFO(name(reason));
    CHECK(seen.reasons[static_cast<std::size_t>(reason)] > 0);
  }
}

TEST_CASE("a request is judged once for each pool that is asked, on random catalogs") {
  std::uint64_t several = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SimulationSpec spec = world(seed);
    if (spec.pools.back().role != PoolRole::kBoth) continue;
    spec.moves.clear();
    const std::vector<double> weights = spec.routing.gateway.weights;
    const PoolId last = spec.models[0].compatibility;
    Recorder recorder;
    const Report report = simulate(std::move(spec), {&recorder});
    for (std::size_t c = 0; c < report.gates.counts.size(); ++c) {
      const auto of_class = [&](const RequestRecord& r) { return r.cls.value == c; };
      const auto offered = std::count_if(recorder.records.begin(), recorder.records.end(), of_class);
      std::vector<std::uint64_t> judged;
      for (std::size_t p = 0; p < report.gates.counts[c].size(); ++p) {
        const auto& counts = report.gates.counts[c][p];
        const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
        const bool asked = p != last.value && (weights.empty() || weights[p] > 0);
        if (asked) judged.push_back(sum);
        if (!asked) CHECK(sum == 0);
      }
      INFO("laws 'a request is judged once*', world " << seed);
      for (const std::uint64_t sum : judged) CHECK(sum == judged[0]);
      if (!judged.empty()) CHECK(judged[0] <= static_cast<std::uint64_t>(offered));
      several += judged.size() > 1 && judged[0] > 0;
    }
  }
  CHECK(several > 50);
}

TEST_CASE("gates give the same bits by leaps and by single steps on random catalogs") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("laws 'gates give the same bits*', world " << seed);
    Report leap, single;
    const std::string a = fingerprint_of(world(seed), false, &leap), b = fingerprint_of(world(seed), true, &single);
    INFO(first_difference(a, b));
    CHECK((a == b));
    CHECK(leap.gates.counts == single.gates.counts);
    CHECK(leap.gates.compatibility == single.gates.compatibility);
  }
}
