// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "sim/workload.h"

using namespace poolcast;

namespace {

LengthSpec lognormal(double mean, double cv) {
  LengthSpec spec;
  spec.kind = LengthSpec::Kind::kLognormal;
  spec.mean = mean;
  spec.cv = cv;
  return spec;
}

LengthSpec fixed(double tokens) {
  LengthSpec spec;
  spec.mean = tokens;
  return spec;
}

SynthSpec some_load() {
  SynthSpec spec;
  spec.requests = 2000;
  spec.arrivals.process = ArrivalSpec::Process::kGamma;
  spec.arrivals.rate_per_s = 5;
  spec.arrivals.cv = 2;
  spec.prompt_tokens = lognormal(1024, 0.8);
  spec.output_tokens = lognormal(256, 0.7);
  return spec;
}

std::uint64_t digest(Source& source) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
  while (source.peek() != kNever) {
    const Arrival a = source.pop();
    add(static_cast<std::uint64_t>(a.intended));
    add(static_cast<std::uint64_t>(a.prompt_tokens));
    add(static_cast<std::uint64_t>(a.output_tokens));
    add(a.row);
  }
  return hash;
}

/// Serves every request in a fixed time (by its prompt and output), in order of its end.
std::vector<RequestRecord> serve(Source& source, SimTime per_token, std::size_t most = 1'000'000,
                                 std::uint64_t refuse_row = UINT64_MAX) {
  std::multimap<SimTime, RequestRecord> in_flight;
  std::vector<RequestRecord> ended;
  SimTime now = 0;
  while ((source.peek() != kNever || !in_flight.empty()) && ended.size() < most) {
    if (!in_flight.empty() && in_flight.begin()->first <= source.peek()) {
      const RequestRecord record = in_flight.begin()->second;
      in_flight.erase(in_flight.begin());
      REQUIRE(record.ended >= now);
      now = record.ended;
      ended.push_back(record);
      source.finished(record);
      continue;
    }
    REQUIRE(source.peek() >= now);
    now = source.peek();
    const Arrival a = source.pop();
    REQUIRE(a.intended == now);
    RequestRecord record;
    record.at.intended = now;
    record.row = a.row;
    record.session = a.session;
    record.prompt_tokens = a.prompt_tokens;
    record.output_tokens = record.output_target = a.output_tokens;
    record.ended = now + (a.prompt_tokens + a.output_tokens) * per_token;
    if (a.row == refuse_row) record.ended = now, record.output_tokens = 0, record.outcome = Outcome::kRejected;
    in_flight.emplace(record.ended, record);
  }
  return ended;
}

}  // namespace

TEST_CASE("A synthetic source gives the same arrivals on every compiler and machine") {
  // Recorded once; a change of this number means that every synthetic result changes.
  const auto source = make_source(some_load(), ClassId(3u), 2, 7, "workload/0");
  CHECK(digest(*source) == 0x8b5e7c32c32103du);
}

TEST_CASE("Changing one stream of a synthetic source leaves the others as they are") {
  SynthSpec longer = some_load();
  longer.output_tokens = lognormal(512, 0.7);
  const auto a = make_source(some_load(), ClassId(0u), 0, 7, "w"), b = make_source(longer, ClassId(0u), 0, 7, "w");
  bool outputs_differ = false;
  while (a->peek() != kNever) {
    const Arrival x = a->pop(), y = b->pop();
    REQUIRE(x.intended == y.intended);
    REQUIRE(x.prompt_tokens == y.prompt_tokens);
    outputs_differ |= x.output_tokens != y.output_tokens;
  }
  CHECK(outputs_differ);
}

TEST_CASE("A synthetic source stops at its count, or at its instant") {
  SynthSpec spec = some_load();
  const auto by_count = make_source(spec, ClassId(3u), 2, 7, "w");
  std::uint64_t rows = 0;
  for (; by_count->peek() != kNever; ++rows) {
    const Arrival a = by_count->pop();
    CHECK(a.row == rows);
    CHECK(a.priority == 2);
    CHECK(a.cls == ClassId(3u));
  }
  CHECK(rows == 2000);
  CHECK(by_count->progress() == 1);

  spec.requests = 0;
  spec.duration = 100 * kNanosPerSecond;
  const auto by_time = make_source(spec, ClassId(0u), 0, 7, "w");
  SimTime last = 0;
  for (rows = 0; by_time->peek() != kNever; ++rows) last = by_time->pop().intended;
  CHECK(last < spec.duration);
  CHECK(rows > 300);
}

TEST_CASE("A request has at least one token each way, whatever its distributions") {
  SynthSpec spec = some_load();
  spec.prompt_tokens.min = spec.output_tokens.min = 0;
  spec.prompt_tokens.mean = spec.output_tokens.mean = 0.6;
  const auto source = make_source(spec, ClassId(0u), 0, 7, "w");
  while (source->peek() != kNever) {
    const Arrival a = source->pop();
    REQUIRE(a.prompt_tokens >= 1);
    REQUIRE(a.output_tokens >= 1);
  }
}

TEST_CASE("A closed loop keeps every user at one request, with think time after its end") {
  ClosedLoopSpec spec;
  spec.users = 4;
  spec.requests = 400;
  spec.think_time = {ThinkSpec::Kind::kFixed, Seconds(2), 0};
  spec.ramp = 8 * kNanosPerSecond;
  spec.prompt_tokens = lognormal(100, 1);
  spec.output_tokens = fixed(50);
  const auto source = make_source(spec, ClassId(0u), 0, 1, "w");
  CHECK(source->wants_feedback());
  std::map<std::uint64_t, std::vector<RequestRecord>> by_user;
  const auto ended = serve(*source, 1'000'000);
  CHECK(ended.size() == 400);
  for (const auto& record : ended) by_user[record.session].push_back(record);
  REQUIRE(by_user.size() == 4);
  for (const auto& [user, records] : by_user) {
    CHECK(records[0].at.intended == static_cast<SimTime>(user) * 2 * kNanosPerSecond);
    for (std::size_t i = 1; i < records.size(); ++i)
      CHECK(records[i].at.intended == records[i - 1].ended + 2 * kNanosPerSecond);
  }
}

TEST_CASE("A user of a closed loop asks the same things however fast it is answered") {
  ClosedLoopSpec spec;
  spec.users = 3;
  spec.duration = 2000 * kNanosPerSecond;
  spec.think_time = {ThinkSpec::Kind::kExponential, Seconds(1), 0};
  spec.prompt_tokens = lognormal(100, 1);
  spec.output_tokens = lognormal(50, 1);
  const auto fast = make_source(spec, ClassId(0u), 0, 1, "w"), slow = make_source(spec, ClassId(0u), 0, 1, "w");
  std::map<std::uint64_t, std::vector<std::int64_t>> asked_fast, asked_slow;
  for (const auto& r : serve(*fast, 1'000'000)) asked_fast[r.session].push_back(r.prompt_tokens);
  for (const auto& r : serve(*slow, 7'000'000)) asked_slow[r.session].push_back(r.prompt_tokens);
  for (auto& [user, prompts] : asked_slow) {
    REQUIRE(asked_fast[user].size() > prompts.size());
    asked_fast[user].resize(prompts.size());
    CHECK(asked_fast[user] == prompts);
  }
}

TEST_CASE("A refused user without think time does not send for ever at one instant") {
  ClosedLoopSpec spec;
  spec.users = 1;
  spec.duration = kNanosPerSecond;
  spec.prompt_tokens = spec.output_tokens = fixed(10);
  const auto source = make_source(spec, ClassId(0u), 0, 1, "w");
  std::uint64_t sent = 0;
  while (source->peek() != kNever) {
    RequestRecord record;
    record.ended = source->peek();
    record.session = source->pop().session;
    record.outcome = Outcome::kRejected;
    source->finished(record);
    REQUIRE(++sent <= 1000);
  }
  CHECK(sent == 1000);
}

TEST_CASE("A turn of a session holds the whole turn before it and comes after its end") {
  SessionsSpec spec;
  spec.sessions = 200;
  spec.arrivals.rate_per_s = 0.5;
  spec.turns.kind = LengthSpec::Kind::kUniform;
  spec.turns.min = 1, spec.turns.max = 9;
  spec.first_prompt_tokens = lognormal(500, 0.5);
  spec.turn_tokens = fixed(40);
  spec.output_tokens = lognormal(100, 0.5);
  spec.think_time = {ThinkSpec::Kind::kFixed, Seconds(3), 0};
  const auto source = make_source(spec, ClassId(0u), 0, 1, "w");
  std::map<std::uint64_t, std::vector<RequestRecord>> by_session;
  for (const auto& record : serve(*source, 1'000'000)) by_session[record.session].push_back(record);
  CHECK(by_session.size() == 200);
  std::map<std::size_t, int> turns;
  for (const auto& [session, records] : by_session) {
    ++turns[records.size()];
    for (std::size_t i = 1; i < records.size(); ++i) {
      CHECK(records[i].prompt_tokens == records[i - 1].prompt_tokens + records[i - 1].output_tokens + 40);
      CHECK(records[i].at.intended == records[i - 1].ended + 3 * kNanosPerSecond);
    }
  }
  CHECK(turns.size() == 9);
  CHECK(turns.rbegin()->first == 9);
}

TEST_CASE("A session ends before the turn that would exceed its context, and after a turn that failed") {
  SessionsSpec spec;
  spec.sessions = 5;
  spec.arrivals.process = ArrivalSpec::Process::kDeterministic;
  spec.turns = fixed(100);
  spec.first_prompt_tokens = fixed(100);
  spec.turn_tokens = fixed(50);
  spec.output_tokens = fixed(50);
  spec.max_context = 400;  // 100 + 50, 200 + 50, 300 + 50, and 400 + 50 is too much
  const auto source = make_source(spec, ClassId(0u), 0, 1, "w");
  CHECK(serve(*source, 1000).size() == 15);
  const auto cut = make_source(spec, ClassId(0u), 0, 1, "w");
  CHECK(serve(*cut, 1000, 1'000'000, 0).size() == 13);

  spec.max_context = 100;
  CHECK_THROWS_WITH((spec.sessions = 0, make_source(spec, ClassId(0u), 0, 1, "w")), Catch::Contains("max_context"));
}
