// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>

#include "sim/random.h"
#include "sim/schedulers/buckets.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using Flavour = BucketedArgs::Flavour;

/// Draws the arguments of an engine with compiled shapes.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed, "bucketed world") {}

  /// `vllm` is what the world had: a TPU keeps its limits.
  BucketedArgs tpu(const VllmArgs& vllm) {
    BucketedArgs args;
    args.max_num_seqs = vllm.max_num_seqs;
    args.max_num_batched_tokens = vllm.max_num_batched_tokens;
    args.max_model_len = vllm.max_model_len;
    args.block_size = vllm.block_size;
    args.num_gpu_blocks = vllm.num_gpu_blocks;
    args.long_prefill_token_threshold = vllm.long_prefill_token_threshold;
    args.scheduler_reserve_full_isl = vllm.scheduler_reserve_full_isl;
    args.enable_prefix_caching = vllm.enable_prefix_caching;
    args.token_buckets = tpu_token_buckets(pick({1, 16}), args.max_num_batched_tokens, pick({0, 0, 16, 40}));
    args.request_buckets = tpu_request_buckets(8, args.max_num_seqs);
    compile(args);
    return args;
  }

  BucketedArgs slots(Flavour flavour) {
    BucketedArgs args;
    args.flavour = flavour;
    args.max_num_seqs = pick({1, 2, 4, 16, 128});
    args.max_model_len = pick({64, 256, 600, 4096});
    const std::int64_t longest_prompt = chance(0.3) ? args.max_model_len / 2 : args.max_model_len;
    args.request_buckets = {args.max_num_seqs};
    if (flavour == Flavour::kJetstream) {
      args.token_buckets = jetstream_buckets(longest_prompt);
      args.context_buckets = {args.max_model_len};
    } else {
      const std::int64_t least = pick({8, 32, 128});
      args.token_buckets = neuron_buckets(least, longest_prompt);
      args.context_buckets = neuron_buckets(least, args.max_model_len);
      if (chance(0.4) && args.max_num_seqs > 1) args.request_buckets = {1, args.max_num_seqs};
      if (chance(0.4) && args.max_num_seqs > 3) args.request_buckets = {2, 3, args.max_num_seqs};
    }
    compile(args);
    return args;
  }

 private:
  void compile(BucketedArgs& args) {
    args.precompile = chance(0.5);
    args.compile_seconds = 0.3 * random_.uniform();
    args.compile_seconds_per_token = chance(0.5) ? 1e-4 : 0;
    args.compile_cache = chance(0.3);
    args.cached_compile_seconds = 0.01;
  }
  bool chance(double p) { return random_.uniform() < p; }
  std::int64_t pick(std::initializer_list<std::int64_t> values) { return values.begin()[random_.below(values.size())]; }

  RandomStream random_;
};

SimulationSpec tpu_world(std::uint64_t seed) {
  SimulationSpec spec = seed % 4 == 0 ? random_disaggregated_world(seed) : random_prefix_world(seed);
  Maker maker(seed);
  for (PoolSpec& pool : spec.pools) {
    pool.ranks = 1;
    pool.engine = maker.tpu(pool.vllm());
  }
  return spec;
}

SimulationSpec slot_world(std::uint64_t seed, Flavour flavour) {
  SimulationSpec spec = random_world(seed);
  Maker maker(seed);
  for (PoolSpec& pool : spec.pools) {
    pool.engine = maker.slots(flavour);
    auto curve = std::make_shared<KneeCurve>(dynamic_cast<const KneeCurve&>(*pool.curve));
    if (seed % 3 == 0) {  // steps of whole milliseconds, so that arrivals meet their ends
      curve->base = 1e-3 * static_cast<double>(1 + seed % 4);
      curve->per_token = curve->per_request = curve->per_context = curve->beyond = curve->per_pair = 0;
    }
    pool.curve = curve;
  }
  return spec;
}

SimulationSpec neuron_world(std::uint64_t seed) { return slot_world(seed, Flavour::kNeuron); }
SimulationSpec jetstream_world(std::uint64_t seed) { return slot_world(seed, Flavour::kJetstream); }

using World = SimulationSpec (*)(std::uint64_t seed);

std::string run(World world, std::uint64_t seed, bool stepwise, Report* report = nullptr) {
  Report result;
  std::string text = fingerprint_of(world(seed), stepwise, &result);
  for (const ReplicaReport& r : result.replicas) {
    text += "padded " + std::to_string(r.padded_tokens) + " compiled " + std::to_string(r.compiled) + '\n';
  }
  if (report) *report = std::move(result);
  return text;
}

struct Totals {
  std::uint64_t leaps = 0, completed = 0, preempted = 0, compiled = 0, transfers = 0;
  std::int64_t padded = 0, hits = 0;
};

Totals compare_worlds(World world, std::uint64_t worlds) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
    INFO("world " << seed << "; repeat with: POOLCAST_WORLD=" << seed << " laws \"one world of compiled shapes\"");
    Report report;
    const std::string leap = run(world, seed, false, &report);
    const std::string stepwise = run(world, seed, true);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    totals.leaps += report.leaps;
    totals.transfers += report.transfers;
    totals.completed += report.total().outcomes.count(Outcome::kCompleted);
    for (const ReplicaReport& r : report.replicas) {
      totals.preempted += r.preemptions;
      totals.compiled += static_cast<std::uint64_t>(r.compiled);
      totals.padded += r.padded_tokens;
      totals.hits += r.prefix.hits;
    }
  }
  return totals;
}

}  // namespace

TEST_CASE("compiled shapes on TPU: leaps and single steps give the same bits on 400 random worlds") {
  const Totals totals = compare_worlds(tpu_world, 400);
  // The worlds do hold what the law is about.
  CHECK(totals.leaps > 2000);
  CHECK(totals.completed > 20'000);
  CHECK(totals.preempted > 1000);
  CHECK(totals.compiled > 500);
  CHECK(totals.padded > 100'000);
  CHECK(totals.hits > 50'000);
  CHECK(totals.transfers > 2000);
}

TEST_CASE("compiled shapes on Neuron: leaps and single steps give the same bits on 300 random worlds") {
  const Totals totals = compare_worlds(neuron_world, 300);
  CHECK(totals.leaps > 2000);
  CHECK(totals.completed > 20'000);
  CHECK(totals.compiled > 500);
  CHECK(totals.padded > 100'000);
}

TEST_CASE("compiled shapes of JetStream: leaps and single steps give the same bits on 300 random worlds") {
  const Totals totals = compare_worlds(jetstream_world, 300);
  CHECK(totals.leaps > 2000);
  CHECK(totals.completed > 20'000);
  CHECK(totals.compiled > 500);
  CHECK(totals.padded > 100'000);
}

TEST_CASE("one world of compiled shapes", "[.]") {
  const char* seed = std::getenv("POOLCAST_WORLD");
  const std::uint64_t world = seed ? std::strtoull(seed, nullptr, 10) : 1;
  for (const World make : {tpu_world, neuron_world, jetstream_world}) {
    const std::string leap = run(make, world, false);
    const std::string stepwise = run(make, world, true);
    if (leap != stepwise) FAIL_CHECK(first_difference(leap, stepwise));
  }
  SUCCEED();
}
