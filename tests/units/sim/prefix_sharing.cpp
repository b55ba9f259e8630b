// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/ideal_cache.h"
#include "sim/workload.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

SimulationSpec caching_pool() {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.pools[0].vllm().enable_prefix_caching = true;
  spec.pools[0].vllm().max_num_seqs = 64;
  spec.pools[0].vllm().max_num_batched_tokens = 100'000;
  return spec;
}

LengthSpec fixed(std::int64_t tokens) {
  LengthSpec length;
  length.mean = static_cast<double>(tokens);
  return length;
}

}  // namespace

TEST_CASE("requests with one shared prefix find its full blocks after the first one") {
  SynthSpec synth;
  synth.requests = 20;
  synth.arrivals.process = ArrivalSpec::Process::kDeterministic;
  synth.prompt_tokens = fixed(50);
  synth.output_tokens = fixed(3);
  synth.shared_prefix = {1, 0, fixed(100)};
  SimulationSpec spec = caching_pool();
  spec.sources.push_back({make_source(synth, ClassId(0u), 0, 1, "w")});
  Report report;
  const auto records = records_by_row(std::move(spec), &report);
  REQUIRE(records.size() == 20);
  for (const RequestRecord& r : records) {
    CHECK(r.prompt_tokens == 150);
    CHECK(r.cached_tokens == (r.row == 0 ? 0 : 96));  // 6 blocks of 16
  }
  CHECK(report.replicas[0].prefix.hits == 19 * 96);
  CHECK(report.replicas[0].prefix.queries == 20 * 150);
  CHECK(report.ideal_prefix_hits == 19 * 100);  // token by token
  CHECK(report.prefix_tokens == 20 * 150);
}

TEST_CASE("prefix groups are drawn by Zipf weights and have a length each") {
  SynthSpec synth;
  synth.requests = 30'000;
  synth.prompt_tokens = fixed(1);
  synth.output_tokens = fixed(1);
  synth.shared_prefix = {3, 1.0, {LengthSpec::Kind::kUniform, 500, 0, 100, 1000, {}}};
  const auto source = make_source(synth, ClassId(0u), 0, 7, "w");
  std::vector<std::pair<Segment, int>> seen;
  while (source->peek() != kNever) {
    const Arrival a = source->pop();
    REQUIRE(a.content.prompt.size() == 1);
    const Segment s = a.content.prompt[0];
    REQUIRE(a.prompt_tokens == s.tokens + 1);
    auto known = std::find_if(seen.begin(), seen.end(), [&](const auto& p) { return p.first.id == s.id; });
    if (known == seen.end()) known = seen.insert(seen.end(), {s, 0});
    REQUIRE(known->first.tokens == s.tokens);
    ++known->second;
  }
  REQUIRE(seen.size() == 3);
  std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const double total = 1 + 1.0 / 2 + 1.0 / 3;
  CHECK(seen[0].second == Approx(30'000 / total).epsilon(0.03));
  CHECK(seen[1].second == Approx(30'000 / 2.0 / total).epsilon(0.03));
  CHECK(seen[2].second == Approx(30'000 / 3.0 / total).epsilon(0.03));
}

TEST_CASE("a turn of a session finds the prompt and the output of the turn before in the cache") {
  SessionsSpec sessions;
  sessions.sessions = 3;
  sessions.turns = fixed(4);
  sessions.first_prompt_tokens = fixed(40);
  sessions.turn_tokens = fixed(25);
  sessions.output_tokens = fixed(30);
  sessions.think_time = {ThinkSpec::Kind::kFixed, Seconds(1), 0};
  sessions.shared_prefix = {1, 0, fixed(32)};
  SimulationSpec spec = caching_pool();
  spec.sources.push_back({make_source(sessions, ClassId(0u), 0, 1, "w")});
  Report report;
  const auto records = records_by_row(std::move(spec), &report);
  REQUIRE(records.size() == 12);
  bool first_of_all = true;
  for (const RequestRecord& r : records) {
    const std::int64_t turn = (r.prompt_tokens - 72) / 55;
    REQUIRE(r.prompt_tokens == 72 + 55 * turn);
    // The last token of an output is never stored, so of the turn before prompt + 29 tokens are; of the first turn only
    // the prefix is known, and to the very first request nothing is.
    const std::int64_t stored = turn > 0 ? r.prompt_tokens - 55 + 29 : first_of_all ? 0 : 32;
    CHECK(r.cached_tokens == stored / 16 * 16);
    first_of_all = false;
  }
}

TEST_CASE("an ideal cache counts what came before, and only the beginning of a prompt") {
  IdealCache cache;
  CHECK(cache.request({{{1, 0, 64}}, 9, 0}, 64, 20) == 0);
  CHECK(cache.request({{{1, 0, 40}, {2, 0, 24}}, 0, 0}, 64, 1) == 40);
  CHECK(cache.request({{{3, 0, 16}, {1, 16, 48}}, 0, 0}, 64, 1) == 0);  // equal tokens after unequal ones
  CHECK(cache.request({{{1, 0, 64}, {9, 0, 20}}, 0, 0}, 84, 1) == 84);  // the prompt and the whole output
  CHECK(cache.request({{{1, 0, 64}, {9, 0, 30}}, 0, 0}, 94, 1) == 84);
  CHECK(cache.request({{{1, 0, 64}}, 0, 0}, 30, 1) == 30);  // a prompt that was cut
}

TEST_CASE("no real cache finds more than the ideal one, whatever its blocks and whoever is refused") {
  std::int64_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Recorder recorder;
    simulate(random_prefix_world(seed), {&recorder});
    for (const RequestRecord& r : recorder.records) {
      INFO("world " << seed << ", row " << r.row);
      if (r.preemptions == 0 && r.ideal_tokens > 0) REQUIRE(r.cached_tokens <= r.ideal_tokens);
      hits += r.cached_tokens;
    }
  }
  CHECK(hits > 10'000);
}
