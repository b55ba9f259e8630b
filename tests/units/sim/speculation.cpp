// SPDX-License-Identifier: Apache-2.0
// Speculative decoding in vLLM's loop: rules by hand, acceptance against its formula.
#include "sim/schedulers/speculation.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/schedulers/vllm.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kMs = 1'000'000;
using Method = SpeculationArgs::Method;

SpeculationArgs drafts(std::vector<double> rates, Method method = Method::kNgram) {
  SpeculationArgs args;
  args.method = method;
  args.num_speculative_tokens = static_cast<std::int64_t>(rates.size());
  args.synthetic_acceptance_rates = std::move(rates);
  return args;
}

SimulationSpec world(SpeculationArgs speculation) {
  SimulationSpec spec = one_pool(fixed_step(0.01));
  spec.pools[0].vllm().speculation = std::move(speculation);
  return spec;
}

RequestRecord lone(SimulationSpec spec, std::int64_t output, Report& report) {
  add_list(spec, {arrival(0, 10, output)});
  Recorder recorder;
  report = simulate(std::move(spec), {&recorder});
  return recorder.records.at(0);
}

/// A scheduler with requests of given prompts and outputs.
struct Bare {
  explicit Bare(VllmArgs args) : scheduler(args, table, 1) {}

  RequestId add(std::int64_t prompt, std::int64_t output) {
    const RequestId id = table.create();
    table.record(id).source = SourceId(0u);
    table.record(id).row = id.value;
    SchedulerState& s = table.state(id);
    s.prompt_tokens = prompt;
    s.end_tokens = prompt + output;
    s.rank = id.value;
    scheduler.enqueue(id);
    return id;
  }
  std::vector<Tokens> step() {
    std::vector<Tokens> chunks;
    for (const PrefillChunk& c : scheduler.schedule().prefill) chunks.push_back(c.query);
    scheduler.finish(1);
    return chunks;
  }

  RequestTable table;
  VllmScheduler scheduler;
};

VllmArgs small(std::int64_t block_size, std::int64_t usable, SpeculationArgs speculation) {
  VllmArgs args;
  args.block_size = block_size;
  args.num_gpu_blocks = usable + 1;
  args.speculation = std::move(speculation);
  return args;
}

}  // namespace

TEST_CASE("drafts that are all accepted come with the token behind them, in one message") {
  Report report;
  // 1 token with the prompt, then 3 a step.
  const RequestRecord r = lone(world(drafts({1, 1})), 7, report);
  CHECK(r.at.first_token == 10 * kMs);
  CHECK(r.at.last_token == 30 * kMs);
  CHECK(r.output_tokens == 7);
  const Cell total = report.total();
  CHECK(total.latencies[Metric::kItl].count() == 2);
  CHECK(total.latencies[Metric::kItl].mean() == 10 * kMs);
  CHECK(total.latencies[Metric::kTpot].mean() == Approx(20.0 / 6 * kMs));
  const ReplicaReport& replica = report.replicas[0];
  CHECK(replica.steps == 3);
  CHECK(replica.scheduled_tokens == 10 + 3 + 3);
  CHECK(replica.rejected_tokens == 0);
  CHECK(replica.speculation.checks == 2);
  CHECK(replica.speculation.drafted == 4);
  CHECK(replica.speculation.accepted == 4);
}

TEST_CASE("what is accepted beyond the end of a sequence is cut off") {
  Report report;
  const RequestRecord r = lone(world(drafts({1, 1})), 6, report);
  CHECK(r.at.last_token == 30 * kMs);
  CHECK(r.output_tokens == 6);
  CHECK(report.replicas[0].scheduled_tokens == 10 + 5);
  CHECK(report.replicas[0].rejected_tokens == 1);
  CHECK(report.replicas[0].speculation.accepted == 4);
}

TEST_CASE("drafts that are never accepted cost their tokens and bring none") {
  Report report;
  const RequestRecord r = lone(world(drafts({0, 1})), 4, report);
  CHECK(r.at.last_token == 40 * kMs);
  CHECK(report.total().latencies[Metric::kItl].count() == 3);
  CHECK(report.replicas[0].scheduled_tokens == 10 + 3);
  CHECK(report.replicas[0].rejected_tokens == 6);
  CHECK(report.replicas[0].speculation.accepted == 0);
}

TEST_CASE("a model that drafts takes its passes after every step that brings a token") {
  SpeculationArgs eagle = drafts({1, 1}, Method::kEagle);
  eagle.draft_time = Seconds(0.001);
  SimulationSpec spec = world(eagle);
  spec.pools[0].vllm().max_num_batched_tokens = 8;  // the prompt takes two steps, the first without a token
  Report report;
  const RequestRecord r = lone(std::move(spec), 4, report);
  CHECK(r.at.first_token == 22 * kMs);
  CHECK(r.at.last_token == 34 * kMs);
}

TEST_CASE("tokens sent four at a time count from the last message, which may have held more") {
  SimulationSpec spec = world(drafts({1, 1}));
  spec.pools[0].vllm().stream_interval = 4;
  // Outputs 1, 4, 7, 10, 11 at 10, 20, 30, 40, 50 ms: messages at 1, 7 (six tokens), 11 (the last).
  Report report;
  lone(std::move(spec), 11, report);
  const Histogram itl = report.total().latencies[Metric::kItl];
  CHECK(itl.count() == 2);
  CHECK(itl.mean() == Approx(20.0 * kMs));
  CHECK(itl.max() == 20 * kMs);
}

TEST_CASE("drafts take tokens from the budget in order of admission, and the last gets what is left") {
  VllmArgs args = small(16, 100, drafts({1, 1, 1}));
  args.max_num_batched_tokens = 10;
  Bare b(args);
  for (int i = 0; i < 3; ++i) b.add(3, 50);
  CHECK(b.step() == std::vector<Tokens>{3, 3, 3});
  CHECK(b.step() == std::vector<Tokens>{4, 4, 2});  // one draft of the third is checked
  CHECK(b.step() == std::vector<Tokens>{4, 4, 2});
  CHECK(b.table.state(RequestId(0u)).tokens == 3 + 1 + 4 + 4);
  CHECK(b.table.state(RequestId(2u)).tokens == 3 + 1 + 2 + 2);
  CHECK(b.scheduler.speculation_stats().drafted == 2 * (3 + 3 + 1));
}

TEST_CASE("a draft model's input holds one token more for each request") {
  VllmArgs args = small(16, 100, drafts({1, 1, 1}, Method::kDraftModel));
  args.max_num_batched_tokens = 10;
  Bare b(args);
  b.add(3, 50);
  b.add(6, 50);
  CHECK(b.step() == std::vector<Tokens>{3, 5});  // 3 + 1, then 5 + 1
  CHECK(b.step() == std::vector<Tokens>{4, 1});  // 4 + 1 leave 5 for the rest of the prompt
  CHECK(b.step() == std::vector<Tokens>{4, 4});
}

TEST_CASE("drafts ask for blocks, a model that drafts for those of its lookahead too, and shortage preempts the last") {
  for (const Method method : {Method::kNgram, Method::kEagle}) {
    Bare b(small(4, 4, drafts({1, 1, 1}, method)));
    const RequestId first = b.add(4, 20), last = b.add(4, 20);
    CHECK(b.step() == std::vector<Tokens>{4, 4});  // a block each
    CHECK(b.scheduler.free_blocks() == 2);
    if (method == Method::kEagle) {
      // 4 stored, 4 in the step and 3 ahead: three blocks, so that the second finds one of the two it needs … and goes.
      CHECK(b.step() == std::vector<Tokens>{4});
      CHECK(b.scheduler.free_blocks() == 1);
      CHECK(b.table.state(last).preemptions == 1);
      continue;
    }
    CHECK(b.step() == std::vector<Tokens>{4, 4});  // eight tokens, two blocks each
    CHECK(b.scheduler.free_blocks() == 0);
    CHECK(b.step() == std::vector<Tokens>{4});  // the first needs a third block: the last gives way
    CHECK(b.table.state(last).preemptions == 1);
    CHECK(b.table.state(last).tokens == 4 + 1 + 4);
    CHECK(b.table.state(first).tokens == 4 + 1 + 4 + 4);
    CHECK(b.scheduler.free_blocks() == 1);
  }
}

TEST_CASE("blocks of rejected drafts stay with their request and are used by the next ones") {
  Bare b(small(4, 10, drafts({0, 0, 0})));
  b.add(4, 20);
  b.step();
  CHECK(b.scheduler.free_blocks() == 9);
  b.step();  // stored 4, asked for 8
  CHECK(b.scheduler.free_blocks() == 8);
  b.step();  // stored 5, asked for 9
  CHECK(b.scheduler.free_blocks() == 7);
  b.step();  // 6, 10
  CHECK(b.scheduler.free_blocks() == 7);
}

TEST_CASE("EAGLE computes the last cached block of a prompt again") {
  for (const Method method : {Method::kNgram, Method::kEagle}) {
    SimulationSpec spec = world(drafts({1}, method));
    spec.pools[0].vllm().enable_prefix_caching = true;
    Arrival a = arrival(0, 50, 2), b = arrival(1, 50, 2);
    a.content.prompt = b.content.prompt = {{7, 0, 50}};
    add_list(spec, {a, b});
    Recorder recorder;
    simulate(std::move(spec), {&recorder});
    CHECK(recorder.records.at(1).cached_tokens == (method == Method::kEagle ? 32 : 48));
  }
}

TEST_CASE("the mean length that is accepted is the sum of the products of the rates") {
  SimulationSpec spec = world(drafts({0.8, 0.5, 0.5}));
  std::vector<Arrival> list;
  for (int i = 0; i < 300; ++i) list.push_back(arrival(0.1 * i, 10, 400));
  add_list(spec, std::move(list));
  const Report report = simulate(std::move(spec));
  const SpeculationStats& s = report.replicas[0].speculation;
  const auto n = static_cast<double>(s.checks);
  REQUIRE(n > 40'000);
  CHECK(s.drafted == 3 * s.checks);
  const double mean = 0.8 + 0.4 + 0.2;
  const double variance = 1 * 0.4 + 4 * 0.2 + 9 * 0.2 - mean * mean;  // exactly one: 0.4, two: 0.2, three: 0.2
  CHECK(std::abs(static_cast<double>(s.accepted) / n - mean) < 4 * std::sqrt(variance / n));
}

TEST_CASE("what is accepted of a request does not depend on what else runs") {
  const auto ends = [](int others) {
    SimulationSpec spec = world(drafts({0.7, 0.7}));
    std::vector<Arrival> list{arrival(0, 10, 200)};
    for (int i = 0; i < others; ++i) list.push_back(arrival(0.05, 10, 100));
    add_list(spec, std::move(list));
    Recorder recorder;
    simulate(std::move(spec), {&recorder});
    for (const RequestRecord& r : recorder.records) {
      if (r.row == 0) return r.ended;
    }
    return SimTime{0};
  };
  CHECK(ends(0) == ends(20));
}

TEST_CASE("a mean accepted length becomes the rate that gives it") {
  CHECK(acceptance_for_length(0, 3) == Approx(0).margin(1e-12));
  CHECK(acceptance_for_length(3, 3) == Approx(1));
  CHECK(acceptance_for_length(0.7 + 0.49 + 0.343, 3) == Approx(0.7));
}
