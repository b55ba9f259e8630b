// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <map>

#include "tests/support/goodness_of_fit.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kHeader = "timestamp_s,prompt_tokens,output_tokens,priority,session,think_time_s,model\n";

std::vector<Arrival> replayed(const TraceSpec& spec, std::uint64_t seed = 1) {
  return replay(*make_trace_source(spec, ClassId(2u), 5, seed, "workload/0"));
}

}  // namespace

TEST_CASE("A trace is replayed at its timestamps from 0 on, faster by rate_scale") {
  TraceFile file(kHeader + "100,10,1,-3,8,,a\n101.5,20,2,,,,b\n103,30,3,,,,a\n");
  auto arrivals = replayed(file.spec);
  REQUIRE(arrivals.size() == 3);
  CHECK(arrivals[0].intended == 0);
  CHECK(arrivals[0].cls == ClassId(2u));
  CHECK(arrivals[0].priority == -3);
  CHECK(arrivals[0].session == 8);
  CHECK(arrivals[1].intended == 1'500'000'000);
  CHECK(arrivals[1].priority == 5);  // none stated: the class's
  CHECK(arrivals[1].row == 1);
  file.spec.rate_scale = 2;
  arrivals = replayed(file.spec);
  CHECK(arrivals[2].intended == 1'500'000'000);
}

TEST_CASE("Window, filters and limit choose rows; the first row of the window comes at 0") {
  std::string text = kHeader;
  for (int i = 0; i < 100; ++i)
    text += std::to_string(i) + "," + std::to_string(i + 1) + "," + std::to_string(100 - i) + ",,,," +
            (i % 2 ? "odd" : "even") + "\n";
  TraceFile file(text);
  file.spec.window_begin = Seconds(9.5);
  file.spec.window_end = Seconds(20);
  auto arrivals = replayed(file.spec);
  REQUIRE(arrivals.size() == 10);
  CHECK(arrivals[0].intended == 0);
  CHECK(arrivals[0].row == 10);
  CHECK(arrivals[9].intended == 9 * kNanosPerSecond);
  file.spec.model = "odd";
  arrivals = replayed(file.spec);
  REQUIRE(arrivals.size() == 5);
  CHECK(arrivals[0].intended == 1 * kNanosPerSecond);
  file.spec.min_prompt_tokens = 14;
  file.spec.max_output_tokens = 85;
  arrivals = replayed(file.spec);
  REQUIRE(arrivals.size() == 3);
  CHECK(arrivals[0].prompt_tokens == 16);
  file.spec.limit = 2;
  CHECK(replayed(file.spec).size() == 2);
  file.spec.max_prompt_tokens = 16;
  CHECK(replayed(file.spec).size() == 1);
  file.spec.min_output_tokens = 86;
  CHECK(replayed(file.spec).empty());
}

TEST_CASE("Skipped rows are counted by the source, and a bad row stops it otherwise") {
  TraceFile file(kHeader + "0,1,1,,,,\n1,1,0,,,,\n2,1,1,,,,\n");
  CHECK_THROWS_WITH(replayed(file.spec), Catch::Contains(":3: the output has 0 tokens"));
  file.spec.on_bad_row = TraceSpec::BadRow::kSkip;
  const auto source = make_trace_source(file.spec, ClassId(0u), 0, 1, "w");
  CHECK(replay(*source).size() == 2);
  CHECK(source->skipped_rows() == 1);
  CHECK(source->progress() == 1);
  CHECK_FALSE(source->has_prefix_data());
  CHECK_FALSE(source->wants_feedback());
}

TEST_CASE("Quantised timestamps are spread uniformly within their quantum, in order, by the seed") {
  std::string text = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n";
  for (int i = 0; i < 20'000; ++i)
    text += std::to_string(i / 10 + 7) + ",m," + std::to_string(i + 1) + ",1,1,API log\n";
  TraceFile file(text);
  CHECK(replayed(file.spec)[9].intended == 0);  // ten at once unless told otherwise
  file.spec.spread = TraceSpec::Spread::kUniform;
  CHECK(probe_trace(file.spec).quantum == Seconds(1));
  const auto arrivals = replayed(file.spec);
  REQUIRE(arrivals.size() == 20'000);
  std::vector<double> places;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    CHECK(arrivals[i].prompt_tokens == static_cast<std::int64_t>(i) + 1);
    if (i > 0) CHECK(arrivals[i].intended >= arrivals[i - 1].intended);
    places.push_back(to_seconds(arrivals[i].intended).value - static_cast<double>(i / 10));
  }
  CHECK(test::kolmogorov_smirnov(places, [](double x) { return std::min(1.0, std::max(0.0, x)); }) < 1.95);
  CHECK(replayed(file.spec)[123].intended == arrivals[123].intended);
  CHECK(replayed(file.spec, 2)[123].intended != arrivals[123].intended);
  file.spec.rate_scale = 10;
  CHECK(to_seconds(replayed(file.spec).back().intended).value < 200.0);
  file.spec.rate_scale = 1;
  file.spec.quantum = Seconds(0.5);
  for (const auto& arrival : replayed(file.spec)) REQUIRE(arrival.intended % kNanosPerSecond <= kNanosPerSecond / 2);
}

TEST_CASE("A replay of sessions keeps think times and lets unknown ones stop it") {
  TraceFile file(kHeader + "0,10,1,,1,,\n1,20,1,,,,\n2,30,1,,1,4,\n3,40,1,,2,,\n9,50,1,,1,1,\n");
  file.spec.replay = TraceSpec::Replay::kSessions;
  file.spec.rate_scale = 2;  // starts come faster; people do not think faster
  const auto source = make_trace_source(file.spec, ClassId(0u), 0, 1, "w");
  std::map<std::int64_t, double> sent;
  while (source->peek() != kNever) {
    const Arrival arrival = source->pop();
    sent[arrival.prompt_tokens] = to_seconds(arrival.intended).value;
    RequestRecord record;
    record.row = arrival.row;
    record.ended = arrival.intended + kNanosPerSecond;
    source->finished(record);
  }
  CHECK(sent == std::map<std::int64_t, double>{{10, 0}, {20, 0.5}, {30, 5}, {40, 1.5}, {50, 7}});

  const auto refusing = make_trace_source(file.spec, ClassId(0u), 0, 1, "w");
  std::size_t requests = 0;
  for (; refusing->peek() != kNever; ++requests) {
    const Arrival arrival = refusing->pop();
    RequestRecord record;
    record.row = arrival.row;
    record.ended = arrival.intended;
    record.outcome = Outcome::kRejected;
    refusing->finished(record);
  }
  CHECK(requests == 3);  // a turn that does not complete ends its session

  TraceFile unknown(kHeader + "0,10,1,,1,,\n2,30,1,,1,,\n");
  unknown.spec.replay = TraceSpec::Replay::kSessions;
  CHECK_THROWS_WITH(replayed(unknown.spec),
                    Catch::Contains(":3: replay: a replay of sessions needs the think time of every turn"));

  TraceFile none(kHeader + "0,10,1,,,,\n2,30,1,,,,\n");
  none.spec.replay = TraceSpec::Replay::kSessions;
  CHECK_THROWS_WITH(replayed(none.spec), Catch::Contains("replay: the rows of this trace name no sessions"));
}

TEST_CASE("A replay of sessions waits a long think time in full") {
  TraceFile file(kHeader + "0,10,1,,1,,\n2,30,1,,1,2e9,\n");
  file.spec.replay = TraceSpec::Replay::kSessions;
  const auto source = make_trace_source(file.spec, ClassId(0u), 0, 1, "w");
  RequestRecord record;
  record.row = source->pop().row;
  record.ended = 0;
  source->finished(record);
  CHECK(source->peek() == 2'000'000'000 * kNanosPerSecond);
}

TEST_CASE("A trace that would last longer than the clock is an error") {
  TraceFile file(kHeader + "0,10,1,,,,\n1000000,10,1,,,,\n");
  file.spec.rate_scale = 1e-6;
  CHECK_THROWS_WITH(replayed(file.spec), Catch::Contains("rate_scale"));
  TraceFile far(kHeader + "0,10,1,,,,\n1e12,10,1,,,,\n");
  CHECK_THROWS_WITH(replayed(far.spec), Catch::Contains(":3: more than 285 years after the first row"));
}
