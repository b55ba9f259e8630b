// SPDX-License-Identifier: Apache-2.0
// Rules of SGLang's scheduler, by hand. Sources are files of python/sglang/srt at 8905cbd.
#include "sim/schedulers/sglang.h"

#include <catch2/catch.hpp>

#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

using Kind = SglangScheduler::Kind;
constexpr SimTime kMs = 1'000'000;

SglangArgs arguments(Tokens tokens, bool overlap = false) {
  SglangArgs args;
  args.max_total_num_tokens = tokens;
  args.disable_overlap_schedule = !overlap;
  return args;
}

/// One scheduler and its requests, pass by pass.
struct Passes {
  explicit Passes(const SglangArgs& args) : scheduler(args, table, 1) {}

  RequestId add(Tokens prompt, Tokens output, std::int32_t priority = 0, std::vector<Segment> content = {}) {
    const RequestId id = table.create();
    SchedulerState& s = table.state(id);
    s.prompt_tokens = prompt;
    s.end_tokens = prompt + output;
    s.priority = priority;
    table.content(id).prompt = std::move(content);
    scheduler.enqueue(id);
    return id;
  }
  Kind pass() {
    plan = scheduler.schedule_pass(false);
    const Kind kind = scheduler.kind();
    if (kind != Kind::kCrash) scheduler.finish(1);
    return kind;
  }
  /// Passes until nobody is left; the number of those still there when it gives up.
  std::int64_t finish_all() {
    for (int i = 0; i < 2000 && left() > 0; ++i) {
      if (pass() == Kind::kCrash) break;
    }
    return left();
  }
  std::int64_t left() const { return scheduler.running() + scheduler.waiting(); }
  std::vector<RequestId> ids(std::size_t from = 0) const {
    return {plan.prefill_ids.begin() + static_cast<std::ptrdiff_t>(from), plan.prefill_ids.end()};
  }

  RequestTable table;
  SglangScheduler scheduler;
  StepPlan plan;
};

std::vector<RequestRecord> simulate_one(const SglangArgs& args, std::vector<Arrival> arrivals,
                                        Report* report = nullptr) {
  SimulationSpec spec = one_pool(fixed_step(0.010));
  spec.pools[0].engine = args;
  add_list(spec, std::move(arrivals));
  Recorder recorder;
  Report result = simulate(std::move(spec), {&recorder});
  if (report) *report = std::move(result);
  return recorder.records;
}

}  // namespace

// managers/schedule_policy.py, PrefillAdder: rem_total = free - sum over running of (max_new - outputs) * ratio, less
// prompt + max_new + page for each one admitted; a request needs strictly less than that.
TEST_CASE("SGLang charges a newcomer its whole output, a running request only a share") {
  SglangArgs args = arguments(100);
  for (const double ratio : {0.7, 0.5}) {
    args.init_new_token_ratio = ratio;
    Passes p(args);
    const RequestId a = p.add(10, 20), b = p.add(10, 20), c = p.add(10, 20), d = p.add(10, 20);
    CHECK(p.pass() == Kind::kPrefill);  // 31 each: 100, 69, 38, then 7 is too little
    CHECK(p.ids() == std::vector<RequestId>{a, b, c});
    // 70 free, three with 19 to come: 70 - 39.9 = 30.1 is too little for 31, 70 - 28.5 = 41.5 is not.
    CHECK(p.pass() == (ratio > 0.6 ? Kind::kDecode : Kind::kPrefill));
    CHECK(p.ids() == (ratio > 0.6 ? std::vector<RequestId>{} : std::vector<RequestId>{d}));
    CHECK(p.finish_all() == 0);
  }
}

// scheduler.py, batch_is_full: set when memory was too short, cleared when the batch shrinks.
TEST_CASE("SGLang tries no admission after a refusal until a running request has left") {
  Passes p(arguments(100));
  for (int i = 0; i < 3; ++i) p.add(10, i == 0 ? 5 : 20);
  const RequestId big = p.add(60, 20);
  p.pass();
  p.pass();
  CHECK(p.scheduler.full());
  p.scheduler.abort(big);
  const RequestId small = p.add(1, 1);
  CHECK_FALSE(p.scheduler.may_admit());
  for (int i = 0; i < 3; ++i) CHECK(p.pass() == Kind::kDecode);  // the first of them ends here, with 5 outputs
  CHECK(p.pass() == Kind::kDecode);                              // and leaves the batch here
  CHECK(p.scheduler.running_batch().size() == 2);
  CHECK_FALSE(p.scheduler.full());
  CHECK(p.pass() == Kind::kPrefill);
  CHECK(p.ids() == std::vector<RequestId>{small});
}

// schedule_batch.py, retract_decode: fewest outputs first, then the longest prompt; common.py: eviction of 20 tokens
// for each one kept; the ratio becomes (outputs + 20 each) / (max_new + 1).
TEST_CASE("SGLang retracts the longer of two prompts with equal outputs and sets the ratio anew") {
  SglangArgs args = arguments(60);
  args.schedule_conservativeness = 0;
  Passes p(args);
  const RequestId a = p.add(10, 30), b = p.add(12, 30);
  CHECK(p.pass() == Kind::kPrefill);  // 41 of 60; 43 more do not fit
  CHECK(p.pass() == Kind::kPrefill);  // the first reserves nothing: 43 of 50
  CHECK(p.plan.starved == std::vector<RequestId>{a});
  for (int i = 0; i < 19; ++i) CHECK(p.pass() == Kind::kDecode);
  CHECK(p.scheduler.memory().available() == 0);
  CHECK(p.pass() == Kind::kDecode);
  REQUIRE(p.plan.preempted.size() == 1);
  CHECK(p.plan.preempted[0].id == b);
  CHECK(p.plan.preempted[0].dropped == 31);
  // It gives back 19; that is less than 20, so its prompt of 12 is evicted as well; the other one takes 1.
  CHECK(p.scheduler.memory().available() == 30);
  CHECK(p.scheduler.memory().evictable() == 0);
  CHECK(p.scheduler.ratio() == 1.0);  // (20 + 20) / 31
  CHECK(p.finish_all() == 0);
  CHECK(p.table.state(b).recomputed == 31);  // its 12 + 20 tokens less the one that was never stored
}

// new_token_ratio_tracker.py: from 0.7 down by (0.7 - 0.098) / 600 with every decode step.
TEST_CASE("SGLang's ratio falls with every decode step and starts anew when nothing is left") {
  Passes p(arguments(1000));
  p.add(10, 3);
  p.pass();
  CHECK(p.scheduler.ratio() == 0.7);
  p.pass();
  CHECK(p.scheduler.ratio() == 0.7 - (0.7 - 0.7 * 0.14) / 600);
  p.pass();
  CHECK(p.left() == 0);
  CHECK(p.scheduler.ratio() < 0.699);
  CHECK(p.pass() == Kind::kIdle);
  CHECK(p.scheduler.ratio() == 0.7);
}

// scheduler.py, event_loop_overlap: the result of a step is processed after the next one was launched.
TEST_CASE("under SGLang's overlap loop users see the same times, and a request that has ended is decoded once more") {
  for (const bool overlap : {false, true}) {
    Report report;
    const auto records = simulate_one(arguments(1000, overlap), {arrival(0, 10, 3), arrival(0.1, 10, 1)}, &report);
    REQUIRE(records.size() == 2);
    CHECK(records[0].at.first_token == 10 * kMs);
    CHECK(records[0].at.last_token == 30 * kMs);
    CHECK(records[0].ended == 30 * kMs);
    CHECK(records[1].at.last_token == 110 * kMs);
    CHECK(report.replicas[0].steps == (overlap ? 6u : 4u));
    CHECK(report.replicas[0].wasted_tokens == (overlap ? 2 : 0));
    CHECK(report.replicas[0].scheduled_tokens == 22);
    CHECK(report.total().latencies[Metric::kItl].count() == 2);
  }
}

TEST_CASE("a step of SGLang's overlap loop is as long as the batch that it decodes, ended requests included") {
  for (const bool overlap : {false, true}) {
    auto curve = std::make_shared<KneeCurve>();
    curve->base = curve->per_request = 1e-3;
    curve->per_token = curve->per_context = curve->beyond = curve->per_pair = 0;
    SimulationSpec spec = one_pool(curve);
    spec.pools[0].engine = arguments(1000, overlap);
    add_list(spec, {arrival(0, 10, 2), arrival(0, 10, 5)});
    Recorder recorder;
    simulate(std::move(spec), {&recorder});
    CHECK(recorder.records[0].ended == 4 * kMs);  // 1 ms of prefill, 3 ms for two
    // 2 ms for one; under the overlap loop the third token still takes 3.
    CHECK(recorder.records[1].ended == (overlap ? 11 : 10) * kMs);
  }
}

// scheduler.py, "is_retracted": the token under way is thrown away and produced again later.
TEST_CASE("a token that SGLang's overlap loop throws away was never seen by its user") {
  SglangArgs args = arguments(60, true);
  args.schedule_conservativeness = 0;
  Report report;
  const auto records = simulate_one(args, {arrival(0, 10, 30), arrival(0, 12, 30)}, &report);
  REQUIRE(records.size() == 2);
  CHECK(report.replicas[0].preemptions == 1);
  CHECK(records[1].preemptions == 1);
  for (const RequestRecord& r : records) CHECK(r.output_tokens == 30);
  const Histogram itl = report.total().latencies[Metric::kItl];
  CHECK(itl.count() == 2 * 29);
  // Steps of 10 ms: tokens at 20 to 210 ms, of which the last is thrown away at once. It comes again with the first
  // step after the other request has ended.
  CHECK(itl.max() == records[0].ended + 10 * kMs + 10 * kMs - 200 * kMs);
}

// scheduler.py, chunked_req: what has been prefilled goes into the tree before the next chunk is planned.
TEST_CASE("a request can hit a prompt that SGLang has prefilled in part") {
  SglangArgs args = arguments(1000);
  args.chunked_prefill_size = 64;
  Passes p(args);
  const RequestId a = p.add(100, 5, 0, {{7, 0, 100}});
  p.pass();
  CHECK(p.scheduler.chunked() == a);
  const RequestId b = p.add(100, 5, 0, {{7, 0, 100}});
  p.pass();
  CHECK(p.ids() == std::vector<RequestId>{a, b});
  CHECK(p.plan.prefill[0].query == 36);
  CHECK(p.plan.prefill[1].context == 64);
  CHECK(p.plan.prefill[1].query == 28);  // what is left of the chunk
  CHECK(p.table.record(b).cached_tokens == 64);
  p.pass();
  CHECK(p.plan.prefill[0].query == 8);
  CHECK(p.scheduler.prefix_stats().hits == 64);
}

// schedule_policy.py: lpm tries the longest cached prefix first; two with the same uncached prompt do not go together.
TEST_CASE("SGLang's lpm takes the longest cached prefix first and lets twins follow one another") {
  SglangArgs args = arguments(10'000);
  args.schedule_policy = SglangArgs::Policy::kLpm;
  Passes p(args);
  p.add(50, 1, 0, {{7, 0, 50}});
  CHECK(p.finish_all() == 0);
  const RequestId twin = p.add(40, 1, 0, {{8, 0, 40}}), other = p.add(40, 1, 0, {{8, 0, 40}});
  const RequestId hit = p.add(60, 1, 0, {{7, 0, 50}, {9, 0, 10}});
  p.pass();
  CHECK(p.ids() == std::vector<RequestId>{hit, twin, other});
}

// schedule_policy.py, preempt_to_schedule: running requests less urgent by more than the threshold give up their slots.
TEST_CASE("SGLang preempts for a slot, by more than the threshold only") {
  SglangArgs args = arguments(500);
  args.enable_priority_scheduling = true;
  args.max_running_requests = 1;
  Passes p(args);
  const RequestId low = p.add(20, 20, 0);
  p.pass();
  p.add(20, 5, 10);
  CHECK(p.pass() == Kind::kDecode);
  const RequestId high = p.add(20, 5, 11);
  CHECK(p.pass() == Kind::kPrefill);
  CHECK(p.ids() == std::vector<RequestId>{high});
  REQUIRE(p.plan.preempted.size() == 1);
  CHECK(p.plan.preempted[0].id == low);
  CHECK(p.finish_all() == 0);
}

namespace {

/// Two requests run in two slots; a third pushes one of them out and is refused for want of memory all the same.
SglangArgs lossy(Fidelity fidelity) {
  SglangArgs args = arguments(100);
  args.enable_priority_scheduling = true;
  args.max_running_requests = 2;
  args.fidelity = fidelity;
  return args;
}

}  // namespace

// scheduler.py, get_new_batch_prefill: it returns for an empty batch before it puts preempted requests back.
TEST_CASE("SGLang loses a preempted request when the newcomer is refused; mended, it is put back") {
  for (const Fidelity fidelity : {Fidelity::kUpstream, Fidelity::kMended}) {
    Passes p(lossy(fidelity));
    const RequestId low = p.add(20, 20, 0);
    p.add(20, 15, 30);
    p.pass();
    p.add(70, 10, 50);
    p.pass();
    REQUIRE(p.plan.preempted.size() == 1);
    CHECK(p.plan.preempted[0].id == low);
    CHECK(p.plan.prefill.empty());
    CHECK(p.finish_all() == (fidelity == Fidelity::kUpstream ? 1 : 0));
    REQUIRE(p.scheduler.departures().size() == 1);
    CHECK(p.scheduler.departures()[0].times == 1);
  }
}

// schedule_policy.py: prompt + page >= what is free, for ever; scheduler.py: nothing clears batch_is_full.
TEST_CASE("SGLang's queue hangs behind a prompt that never passes the reserve; mended, it is let pass alone") {
  for (const Fidelity fidelity : {Fidelity::kUpstream, Fidelity::kMended}) {
    SglangArgs args = arguments(1024);
    args.page_size = 64;
    args.fidelity = fidelity;
    args.context_length = 100'000;
    Passes p(args);
    p.add(1000, 20);
    p.add(10, 5);
    CHECK(p.finish_all() == (fidelity == Fidelity::kUpstream ? 2 : 0));
    CHECK_FALSE(p.scheduler.departures().empty());
  }
}

// scheduler.py: a mixed batch takes memory for its decodes without a check.
TEST_CASE("SGLang's mixed chunks end the process for want of memory; mended, everything ends") {
  for (const Fidelity fidelity : {Fidelity::kUpstream, Fidelity::kMended}) {
    SglangArgs args = arguments(100);
    args.schedule_conservativeness = 0;
    args.enable_mixed_chunk = true;
    args.chunked_prefill_size = 8;
    args.fidelity = fidelity;
    Passes p(args);
    for (int i = 0; i < 5; ++i) p.add(2, 60);
    p.add(60, 2);
    CHECK((p.finish_all() > 0) == (fidelity == Fidelity::kUpstream));
    CHECK((p.scheduler.kind() == Kind::kCrash) == (fidelity == Fidelity::kUpstream));
    CHECK_FALSE(p.scheduler.departures().empty());
  }
}

TEST_CASE("when SGLang's process has ended its requests can still be given up") {
  SglangArgs args = arguments(100);
  args.schedule_conservativeness = 0;
  args.enable_mixed_chunk = true;
  args.chunked_prefill_size = 8;
  args.fidelity = Fidelity::kUpstream;
  std::vector<Arrival> arrivals(5, arrival(0, 2, 60));
  arrivals.push_back(arrival(0, 60, 2));
  for (const bool timeout : {false, true}) {
    SimulationSpec spec = one_pool(fixed_step(0.010));
    spec.pools[0].engine = args;
    if (timeout) spec.classes[0].timeout = 1000 * kMs;
    add_list(spec, arrivals);
    const Outcomes outcomes = simulate(std::move(spec), {}).total().outcomes;
    CHECK(outcomes.count(timeout ? Outcome::kTimedOut : Outcome::kFailed) == 6);
  }
}

// mem_cache/common.py, evict_from_tree_cache: asks for all it needs, not for what is missing.
TEST_CASE("SGLang evicts as much as it needs, not as much as is missing") {
  SglangArgs args = arguments(100);
  SglangMemory memory(args);
  SglangJob job;
  for (std::uint64_t id = 1; id <= 9; ++id) {
    job.content = {{id, 0, 10}};
    REQUIRE(memory.take(10));
    job.committed = 10;
    memory.finish(job);
  }
  CHECK(memory.available() == 10);
  CHECK(memory.evictable() == 90);
  memory.make_room(10);
  CHECK(memory.available() == 10);
  memory.make_room(11);  // 1 is missing; two leaves go
  CHECK(memory.available() == 30);
}

// managers/scheduler.py, init_req_max_new_tokens, and tp_worker.py: what would be cut or refused there never comes
// here.
TEST_CASE("a request that SGLang would cut short is refused") {
  SglangArgs args = arguments(200);
  args.context_length = 300;
  Report report;
  const auto records = simulate_one(args,
                                    {arrival(0, 100, 98), arrival(0, 100, 99), arrival(0, 193, 5), arrival(0, 194, 1),
                                     arrival(0, 298, 1), arrival(0, 200, 100)},
                                    &report);
  REQUIRE(records.size() == 6);
  for (const RequestRecord& r : records) {
    CHECK((r.outcome == Outcome::kCompleted) == (r.row == 0 || r.row == 2));
    if (r.row == 1 || r.row == 3) CHECK(r.reason == Reason::kKvCapacity);
    if (r.row == 4 || r.row == 5) CHECK(r.reason == Reason::kContextLimit);
  }
}
