// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>

#include "sim/random.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// A random world whose pools are of TensorRT-LLM: all policies, with and without chunks, reuse and overlap, caches
/// from one sequence to plenty.
SimulationSpec trt_world(std::uint64_t seed, bool prefixes) {
  SimulationSpec spec = prefixes ? random_prefix_world(seed) : random_world(seed);
  RandomStream random(seed, "tensorrt-llm world");
  const auto pick = [&random](std::initializer_list<std::int64_t> values) {
    return values.begin()[random.below(values.size())];
  };
  for (PoolSpec& pool : spec.pools) {
    TensorrtLlmArgs args;
    args.max_batch_size = pick({1, 2, 4, 16, 128});
    args.max_seq_len = pick({64, 256, 512, 4096});
    args.tokens_per_block = pick({1, 3, 4, 16, 16, 64});
    args.enable_chunked_prefill = random.uniform() < 0.6;
    args.max_num_tokens = args.enable_chunked_prefill ? pick({64, 64, 200, 2048}) : args.max_seq_len;
    if (random.uniform() < 0.2) args.max_num_tokens = pick({1, 2, 8, 70});
    if (random.uniform() < 0.2) args.chunk_unit_size = 2 * args.tokens_per_block;
    args.capacity_scheduler_policy = static_cast<TensorrtLlmArgs::CapacityPolicy>(pick({0, 0, 1, 1, 1, 2}));
    args.context_chunking_policy = static_cast<TensorrtLlmArgs::ChunkingPolicy>(pick({0, 1}));
    args.waiting_queue_policy = static_cast<TensorrtLlmArgs::WaitingQueuePolicy>(pick({0, 0, 1}));
    args.enable_block_reuse = random.uniform() < (prefixes ? 0.85 : 0.4);
    args.enable_partial_reuse = random.uniform() < 0.6;
    args.enable_prefix_aware_scheduling = random.uniform() < 0.7;
    args.disable_overlap_scheduler = random.uniform() < 0.5;
    if (random.uniform() < 0.2) {
      args.batch_wait_timeout_iters = pick({1, 3, 10});
      args.batch_wait_max_tokens_ratio = random.uniform();
    }
    const std::int64_t tokens = random.uniform() < 0.6 ? 20 + static_cast<std::int64_t>(random.below(380))
                                                       : 400 + static_cast<std::int64_t>(random.below(100'000));
    args.num_blocks = 1 + tokens / args.tokens_per_block;
    pool.engine = args;
  }
  return spec;
}

/// The same, mostly without chunks, with a budget below many prompts, on slow pools whose users do not wait for long:
/// prompts that have blocks but not tokens leave while others decode.
SimulationSpec impatient_world(std::uint64_t seed, bool prefixes) {
  SimulationSpec spec = trt_world(seed, prefixes);
  RandomStream random(seed, "impatient world");
  const auto between = [&random](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  for (PoolSpec& pool : spec.pools) {
    auto& args = std::get<TensorrtLlmArgs>(pool.engine);
    args.enable_chunked_prefill = random.uniform() < 0.3;
    args.max_batch_size = between(4, 32);
    args.max_num_tokens = args.enable_chunked_prefill ? between(8, 40) : between(10, 150);
    if (random.uniform() < 0.7) args.capacity_scheduler_policy = TensorrtLlmArgs::CapacityPolicy::kGuaranteedNoEvict;
    args.num_blocks = 1 + between(100, 1500) / args.tokens_per_block;
    pool.replicas = 1;
    pool.max_pending_requests = INT64_MAX;
    auto curve = std::make_shared<KneeCurve>();
    curve->base = 1e-3 + 5e-3 * random.uniform();
    pool.curve = curve;
  }
  for (ClassSpec& cls : spec.classes) {
    cls.patience = between(5'000'000, 500'000'000);
    cls.timeout = random.uniform() < 0.3 ? between(100'000'000, 1'000'000'000) : kNever;
  }
  return spec;
}

using World = SimulationSpec (*)(std::uint64_t seed, bool prefixes);

std::string run(World world, std::uint64_t seed, bool stepwise, Report* report = nullptr) {
  return fingerprint_of(world(seed, seed % 2 == 0), stepwise, report);
}

}  // namespace

TEST_CASE("TensorRT-LLM: leaps and single steps give the same bits on 600 random worlds") {
  std::uint64_t paused = 0, leaps = 0, stalled = 0, completed = 0;
  std::int64_t hits = 0, resumed_hits = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    INFO("world " << seed << "; repeat with: POOLCAST_WORLD=" << seed << " laws \"one world of TensorRT-LLM\"");
    Report report;
    const std::string leap = run(trt_world, seed, false, &report);
    const std::string stepwise = run(trt_world, seed, true);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    leaps += report.leaps;
    completed += report.total().outcomes.count(Outcome::kCompleted);
    stalled += report.total().outcomes.reasons[static_cast<std::size_t>(Reason::kStalled)];
    for (const ReplicaReport& r : report.replicas) {
      paused += r.preemptions;
      hits += r.prefix.hits;
      resumed_hits += r.prefix.resumed_hits;
    }
  }
  CAPTURE(paused, leaps, stalled, completed, hits, resumed_hits);
  CHECK(paused > 1500);
  CHECK(leaps > 2000);
  CHECK(hits > 50'000);
  CHECK(resumed_hits > 1000);
  CHECK(completed > 50'000);
}

TEST_CASE("TensorRT-LLM: leaps and single steps give the same bits where users give up on prompts beyond the budget") {
  std::uint64_t leaps = 0, completed = 0, refused = 0, gave_up = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("world " << seed << "; repeat with: POOLCAST_WORLD=" << seed << " laws \"one world of TensorRT-LLM\"");
    Report report;
    const std::string leap = run(impatient_world, seed, false, &report);
    const std::string stepwise = run(impatient_world, seed, true);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    leaps += report.leaps;
    const Outcomes& outcomes = report.total().outcomes;
    completed += outcomes.count(Outcome::kCompleted);
    refused += outcomes.reasons[static_cast<std::size_t>(Reason::kTokenBudget)];
    gave_up += outcomes.reasons[static_cast<std::size_t>(Reason::kPatience)];
  }
  CAPTURE(leaps, completed, refused, gave_up);
  CHECK(leaps > 2000);
  CHECK(completed > 10'000);
  CHECK(refused > 5000);
  CHECK(gave_up > 5000);
}

// The rarest of the ways in which a leap may have to be cut, found among 24,000 worlds.
TEST_CASE("TensorRT-LLM: a started prompt goes on in the middle of a leap when the refused one before it leaves") {
  const std::string leap = run(trt_world, 1438, false);
  const std::string stepwise = run(trt_world, 1438, true);
  if (leap != stepwise) FAIL(first_difference(leap, stepwise));
  SUCCEED();
}

TEST_CASE("one world of TensorRT-LLM", "[.]") {
  const char* seed = std::getenv("POOLCAST_WORLD");
  const char* last_seed = std::getenv("POOLCAST_LAST_WORLD");
  const std::uint64_t first = seed ? std::strtoull(seed, nullptr, 10) : 1;
  const std::uint64_t last = last_seed ? std::strtoull(last_seed, nullptr, 10) : first;
  for (std::uint64_t at = first; at <= last; ++at) {
    for (const World world : {trt_world, impatient_world}) {
      INFO((world == trt_world ? "world " : "impatient world ") << at);
      const std::string leap = run(world, at, false);
      const std::string stepwise = run(world, at, true);
      if (leap != stepwise) FAIL_CHECK(first_difference(leap, stepwise));
    }
  }
  SUCCEED();
}
