// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <numeric>
#include <set>
#include <stdexcept>

#include "sim/replications.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("the first replication has the seed of the scenario, the others seeds that --seed takes") {
  CHECK(replication_seed(7, 0) == 7);
  std::set<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < 1000; ++i) seeds.insert(replication_seed(7, i));
  CHECK(seeds.size() == 1000);
  CHECK(*seeds.rbegin() <= static_cast<std::uint64_t>(INT64_MAX));
  CHECK(replication_seed(7, 3) != replication_seed(8, 3));
}

TEST_CASE("replications give the same on one thread and on many") {
  const auto run = [](int threads) {
    std::vector<std::string> results(12);
    replicate(12, threads, [&](std::int64_t i) {
      results[static_cast<std::size_t>(i)] = fingerprint_of(random_world(replication_seed(3, i)), false);
    });
    return results;
  };
  const auto one = run(1);
  CHECK(run(2) == one);
  CHECK(run(7) == one);
}

TEST_CASE("each replication runs once, its end is told in turn, and the first fault is thrown") {
  std::vector<int> runs(50);
  std::vector<std::int64_t> told;
  replicate(
      50, 4, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; }, [&](std::int64_t n) { told.push_back(n); });
  CHECK(runs == std::vector<int>(50, 1));
  std::vector<std::int64_t> all(50);
  std::iota(all.begin(), all.end(), 1);
  CHECK(told == all);
  const auto work = [](std::int64_t i) {
    if (i % 3 == 2) throw std::runtime_error(std::to_string(i));
  };
  CHECK_THROWS_WITH(replicate(50, 4, work), "2");
}

TEST_CASE("pools and policies do not change what the load asks for") {
  const auto world = [](std::int32_t replicas, const char* policy) {
    SimulationSpec spec = one_pool(fixed_step(5e-3), replicas);
    spec.routing.pool[0].name = policy;
    spec.seed = 11;
    SynthSpec synth;
    synth.requests = 500;
    synth.arrivals.rate_per_s = 20;
    synth.prompt_tokens = {LengthSpec::Kind::kLognormal, 200, 1, 1, 4000, {}};
    synth.output_tokens = {LengthSpec::Kind::kExponential, 30, 0, 1, 500, {}};
    SourceSpec source;
    source.source = make_source(synth, ClassId(0u), 0, spec.seed, "workload/0");
    spec.sources.push_back(std::move(source));
    Recorder recorder;
    simulate(std::move(spec), {&recorder});
    std::vector<std::vector<std::int64_t>> asked(500);
    for (const RequestRecord& r : recorder.records) asked[r.row] = {r.at.intended, r.prompt_tokens, r.output_target};
    return asked;
  };
  CHECK(world(1, "random") == world(3, "least-request"));
}
