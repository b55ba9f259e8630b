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

std::string run(std::uint64_t seed, bool prefixes, bool stepwise, Report* report = nullptr) {
  SimulationSpec spec = trt_world(seed, prefixes);
  spec.stepwise = stepwise;
  Recorder recorder;
  Report result = simulate(std::move(spec), {&recorder});
  std::string text = fingerprint(result, recorder.records);
  if (report) *report = std::move(result);
  return text;
}

/// The first line that differs, for a message of readable length.
std::string first_difference(const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const std::size_t begin = a.rfind('\n', at) + 1;
  return "leap:     " + a.substr(begin, a.find('\n', at) - begin) +
         "\nstepwise: " + b.substr(begin, b.find('\n', at) - begin);
}

}  // namespace

TEST_CASE("TensorRT-LLM: leaps and single steps give the same bits on 600 random worlds") {
  std::uint64_t paused = 0, leaps = 0, stalled = 0, completed = 0;
  std::int64_t hits = 0, resumed_hits = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const bool prefixes = seed % 2 == 0;
    INFO("world " << seed << "; repeat with: POOLCAST_WORLD=" << seed << " laws \"one world of TensorRT-LLM\"");
    Report report;
    const std::string leap = run(seed, prefixes, false, &report);
    const std::string stepwise = run(seed, prefixes, true);
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

TEST_CASE("one world of TensorRT-LLM", "[.]") {
  const char* seed = std::getenv("POOLCAST_WORLD");
  const std::uint64_t world = seed ? std::strtoull(seed, nullptr, 10) : 1;
  const std::string leap = run(world, world % 2 == 0, false);
  const std::string stepwise = run(world, world % 2 == 0, true);
  if (leap != stepwise) FAIL(first_difference(leap, stepwise));
  SUCCEED();
}
