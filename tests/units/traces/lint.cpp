// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/lint.h"

#include <catch2/catch.hpp>
#include <map>

#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::map<std::string, std::uint64_t> found(const LintReport& report) {
  std::map<std::string, std::uint64_t> counts;
  for (const LintFinding& finding : report.findings) counts[key(finding.oddity)] = finding.count;
  return counts;
}

std::string first_place(const LintReport& report, Oddity oddity) {
  for (const LintFinding& finding : report.findings) {
    if (finding.oddity == oddity && !finding.examples.empty()) return finding.examples[0].where;
  }
  return "none";
}

using Counts = std::map<std::string, std::uint64_t>;

}  // namespace

TEST_CASE("lint finds nothing in a clean trace") {
  std::string text = "timestamp_s,prompt_tokens,output_tokens\n";
  for (int i = 0; i < 500; ++i) text += std::to_string(i * 0.13) + ",10,10\n";
  const LintReport report = lint_trace(TraceFile(text).spec);
  CHECK(found(report).empty());
  CHECK(report.usable);
  CHECK(report.rows == 500);
}

TEST_CASE("lint reports every bad row with its line and goes on") {
  TraceFile file(
      "timestamp_s,prompt_tokens,output_tokens\n0,1,1\n1,0,1\n2,1,0\n\n3,1,0\n2.5,-1,1\n4,x,1\n4,1\n1,1,1\n5,1,1\n");
  LintReport report = lint_trace(file.spec);
  CHECK(found(report) == Counts{{"zero-prompt", 1},
                                {"zero-output", 2},
                                {"negative-tokens", 1},
                                {"bad-value", 1},
                                {"missing-field", 1},
                                {"blank-line", 1}});
  CHECK(first_place(report, Oddity::kZeroOutput) == "4");
  CHECK(first_place(report, Oddity::kMissingField) == "9");
  CHECK(report.rows == 3);
  CHECK_FALSE(report.usable);
  file.spec.on_bad_row = TraceSpec::BadRow::kSkip;
  report = lint_trace(file.spec);
  CHECK(report.usable);
}

TEST_CASE("lint reports rows that go back in time") {
  const LintReport report =
      lint_trace(TraceFile("timestamp_s,prompt_tokens,output_tokens\n5,1,1\n1,1,1\n6,1,1\n").spec);
  CHECK(found(report) == Counts{{"time-backwards", 1}});
  CHECK(first_place(report, Oddity::kTimeBackwards) == "3");
  CHECK_FALSE(report.usable);
}

TEST_CASE("lint reports line ends, ties, silences and gaps that are too short to be true") {
  std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";
  const auto row = [&](int second, const char* fraction) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "2024-05-10 00:%02d:%02d.%s,1,1\r\n", second / 60, second % 60, fraction);
    text += buffer;
  };
  for (int i = 0; i < 200; ++i) row(i, "0000000");
  row(1500, "0000000");  // line 202: 1,301 s later
  row(1500, "0000000");  // a tie
  row(1500, "0000020");  // 2 us later
  text.resize(text.size() - 2);
  const LintReport report = lint_trace(TraceFile(text).spec);
  CHECK(found(report) == Counts{{"crlf", 203}, {"no-final-newline", 1}, {"ties", 1}, {"silence", 1}, {"short-gap", 1}});
  CHECK(first_place(report, Oddity::kSilence) == "202");
  CHECK(first_place(report, Oddity::kTies) == "203");
  CHECK(first_place(report, Oddity::kShortGap) == "204");
  CHECK(first_place(report, Oddity::kNoFinalNewline) == "204");
  CHECK(report.usable);
}

TEST_CASE("lint reports a quiet ramp-up head and how to leave it out") {
  std::string text = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i * 25) + ",m,1,1,2,API log\n";
  for (int i = 1000; i < 4000; ++i) text += std::to_string(i) + ",m,1,1,2,API log\n";
  const LintReport report = lint_trace(TraceFile(text).spec);
  REQUIRE(found(report).count("quiet-head") == 1);
  for (const LintFinding& finding : report.findings) {
    if (finding.oddity != Oddity::kQuietHead) continue;
    double until = 0;
    REQUIRE(std::sscanf(finding.examples[0].message.c_str(), "below a fifth of the later rate until %lf s", &until) ==
            1);
    CHECK(until > 950);
    CHECK(until < 1300);
    CHECK_THAT(finding.examples[0].message, Catch::Contains("time_window: ["));
  }
}

TEST_CASE("lint tells which way hash ids are rounded and which do not fit") {
  TraceFile file(
      R"({"timestamp": 1000, "input_length": 1000, "output_length": 1, "hash_ids": [0, 1]})"
      "\n"
      R"({"timestamp": 2000, "input_length": 1024, "output_length": 1, "hash_ids": [0, 1]})"
      "\n"
      R"({"timestamp": 3000, "input_length": 1300, "output_length": 1, "hash_ids": [0, 1, 2]})"
      "\n"
      R"({"timestamp": 4000, "input_length": 1300, "output_length": 1, "hash_ids": [0, 1, 2, 3, 4], "extra": 1})"
      "\n");
  file.spec.time_unit = Seconds(1e-3);
  file.spec.block_tokens = 512;
  const LintReport report = lint_trace(file.spec);
  CHECK(found(report) == Counts{{"blocks-round-up", 2}, {"hash-count", 1}, {"unknown-field", 1}});
  CHECK(first_place(report, Oddity::kHashCount) == "4");
  CHECK(report.usable);
}

TEST_CASE("lint reports what sessions of coding agents leave out") {
  const TraceFile file(
      R"({"block_size":64,"requests":[{"t":0,"in":100,"out":1,"hash_ids":[1],"api_time":1,"think_time":0},)"
      R"({"t":5,"type":"subagent","requests":[{"t":0,"in":64,"out":1,"hash_ids":[1],"api_time":1,"think_time":0}]},)"
      R"({"t":9,"in":64,"out":0,"hash_ids":[1]},{"t":10,"in":64,"out":1,"hash_ids":[1]}]})");
  const LintReport report = lint_trace(file.spec);
  CHECK(found(report) == Counts{{"zero-output", 1},
                                {"sub-agent", 1},
                                {"missing-api-time", 1},
                                {"missing-think-time", 1},
                                {"blocks-round-down", 1}});
  CHECK(first_place(report, Oddity::kZeroOutput) == "trace: requests[2]");
  CHECK_FALSE(report.usable);
}

TEST_CASE("lint reports a caller that is not in the trace before its sub-agent") {
  const LintReport report = lint_trace(
      TraceFile(R"({"timestamp_s": 0, "prompt_tokens": 1, "output_tokens": 1, "session": 1})"
                "\n"
                R"({"timestamp_s": 1, "prompt_tokens": 1, "output_tokens": 1, "session": 2, "after_session": 1})"
                "\n"
                R"({"timestamp_s": 2, "prompt_tokens": 1, "output_tokens": 1, "session": 3, "after_session": 9})"
                "\n")
          .spec);
  CHECK(found(report) == Counts{{"unknown-caller", 1}});
  CHECK(first_place(report, Oddity::kUnknownCaller) == "3");
  CHECK(report.usable);
}

TEST_CASE("lint names it when a trace has no rows") {
  const LintReport report = lint_trace(TraceFile("timestamp_s,prompt_tokens,output_tokens\n").spec);
  CHECK(found(report) == Counts{{"no-rows", 1}});
  CHECK_FALSE(report.usable);
}

TEST_CASE("lint reports think times that outlast the clock") {
  const LintReport report = lint_trace(TraceFile("timestamp_s,prompt_tokens,output_tokens,session,think_time_s\n"
                                                 "0,1,1,1,\n1,1,1,1,1e300\n")
                                           .spec);
  CHECK(found(report) == Counts{{"bad-value", 1}});
}

TEST_CASE("lint reports a time unit that cannot be right") {
  TraceFile file(R"({"timestamp": 0, "input_length": 5, "output_length": 1})"
                 "\n"
                 R"({"timestamp": 5000000, "input_length": 5, "output_length": 1})"
                 "\n");
  file.spec.time_unit = Seconds(1);
  CHECK(found(lint_trace(file.spec)) == Counts{{"implausible-rate", 1}});
}

TEST_CASE("lint of damaged files says where the damage is") {
  std::string text = "timestamp_s,prompt_tokens,output_tokens\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + ",7,8\n";
  const std::string packed = gzipped(text);
  LintReport report = lint_trace(TraceFile(packed.substr(0, packed.size() - 1000)).spec);
  CHECK(found(report).at("unreadable") == 1);
  CHECK_FALSE(report.usable);
  CHECK(report.rows > 1000);

  std::string rows = "timestamp_s,prompt_tokens,output_tokens\n";
  rows.append(1000, '\xff').append("\n").append(5, '\0').append("\n0,1,1\n");
  TraceFile junk(rows);
  report = lint_trace(junk.spec);
  CHECK(found(report).at("missing-field") == 2);
  CHECK(report.rows == 1);
}
