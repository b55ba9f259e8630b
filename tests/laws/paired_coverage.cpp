// SPDX-License-Identifier: Apache-2.0
// Two queues whose means theory knows: the paired interval holds their difference as often as it says.
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/paired.h"
#include "sim/replications.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// Mean stay in an M/M/1 queue with 0.5 arrivals a second and services of `service` s on average, as requests of
/// exponential length on one slot.
double stay(double service, std::uint64_t seed) {
  constexpr double kTokens = 1000;
  SimulationSpec spec = one_pool(fixed_step(service / kTokens));
  spec.seed = seed;
  VllmArgs& engine = spec.pools[0].vllm();
  engine.max_num_seqs = 1;
  engine.max_num_batched_tokens = 100'000;
  engine.num_gpu_blocks = 1'000'000'000;
  engine.max_model_len = 100'000'000;
  spec.measure.warm_up_requests = 200;
  SynthSpec synth;
  synth.requests = 2'200;
  synth.arrivals.rate_per_s = 0.5;
  synth.prompt_tokens = {LengthSpec::Kind::kFixed, 1, 0, 1, INT64_MAX, {}};
  synth.output_tokens = {LengthSpec::Kind::kExponential, kTokens, 0, 1, INT64_MAX, {}};
  SourceSpec source;
  source.source = make_source(synth, ClassId(0u), 0, seed, "workload/0");
  spec.sources.push_back(std::move(source));
  return simulate(std::move(spec)).total().latencies[Metric::kE2e].mean() * 1e-9;
}

}  // namespace

TEST_CASE("95 % paired intervals hold the difference of two M/M/1 queues in about 95 % of 200 experiments") {
  constexpr int kExperiments = 200, kReplications = 8;
  const double truth = 1 / (1 / 0.8 - 0.5) - 1 / (1 / 1.0 - 0.5);  // 1 / (mu - lambda)
  int held = 0;
  double paired = 0, alone = 0;
  for (std::uint64_t e = 0; e < kExperiments; ++e) {
    std::vector<double> differences, base;
    for (std::int64_t k = 0; k < kReplications; ++k) {
      const std::uint64_t seed = replication_seed(1000 + e, k);
      base.push_back(stay(1.0, seed));
      differences.push_back(stay(0.8, seed) - base.back());
    }
    const MeanInterval m = mean_interval(differences, 0.95);
    held += m.low <= truth && truth <= m.high;
    paired += m.deviation;
    alone += mean_interval(base, 0.95).deviation;
  }
  INFO(held << " of 200");
  CHECK(held >= 178);  // 190 less four standard deviations of the binomial
  CHECK(held <= 200);
  CHECK(paired < alone);  // the same world on both sides is what makes the interval short
}
