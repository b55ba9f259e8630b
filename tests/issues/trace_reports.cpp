// SPDX-License-Identifier: Apache-2.0
// Public reports about request traces, each turned into a test. The number of the report stands in the name. Traces
// longer than a model's context (vidur#60) are tested with the limits of models.
#include <catch2/catch.hpp>

#include <string>

#include "scenarios/traces/lint.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kBurstGpt = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n";

const LintFinding* find(const LintReport& report, Oddity oddity) {
  for (const LintFinding& finding : report.findings) {
    if (finding.oddity == oddity) return &finding;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("BurstGPT#11: a quiet head and rows without tokens are found, and both can be left out") {
  std::string text = kBurstGpt;
  for (int i = 0; i < 34; ++i) text += std::to_string(i * 30) + ",ChatGPT,100,10,110,API log\n";  // 0.034 a second
  for (int i = 1000; i < 3000; ++i)
    text += std::to_string(i) + ",ChatGPT,100," + (i % 100 == 0 ? "0" : "10") + ",110,API log\n";
  TraceFile file(text);
  const LintReport report = lint_trace(file.spec);
  CHECK_FALSE(report.usable);
  REQUIRE(find(report, Oddity::kZeroOutput) != nullptr);
  CHECK(find(report, Oddity::kZeroOutput)->count == 20);
  REQUIRE(find(report, Oddity::kQuietHead) != nullptr);
  CHECK_THAT(find(report, Oddity::kQuietHead)->examples[0].message, Catch::Contains("time_window"));

  file.spec.on_bad_row = TraceSpec::BadRow::kSkip;
  file.spec.window_begin = Seconds(1000);
  const auto source = make_trace_source(file.spec, ClassId(0u), 0, 1, "w");
  CHECK(source->peek() == 0);
  CHECK(replay(*source).size() == 1980);
  CHECK(source->skipped_rows() == 20);
}

TEST_CASE("BurstGPT#2: timestamps of whole seconds are found, and spread only when asked, by the seed") {
  std::string text = kBurstGpt;
  for (int i = 0; i < 100; ++i) text += std::to_string(i / 4) + ",ChatGPT,100,10,110,API log\n";
  TraceFile file(text);
  const LintReport report = lint_trace(file.spec);
  REQUIRE(find(report, Oddity::kTies) != nullptr);
  CHECK(find(report, Oddity::kTies)->count == 75);
  CHECK_THAT(find(report, Oddity::kTies)->examples[0].message, Catch::Contains("timestamps are multiples of 1 s"));
  const auto arrivals = [&] { return replay(*make_trace_source(file.spec, ClassId(0u), 0, 7, "w")); };
  CHECK(arrivals()[3].intended == 0);
  file.spec.spread = TraceSpec::Spread::kUniform;
  const auto spread = arrivals(), again = arrivals();
  CHECK(spread[3].intended > 0);
  CHECK(spread[3].intended < spread[4].intended);
  CHECK(spread[4].intended >= kNanosPerSecond);
  CHECK(spread[50].intended == again[50].intended);
}

TEST_CASE("AzurePublicDataset#53: a trace without prefix information says so to the simulator") {
  const TraceFile azure("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n");
  CHECK_FALSE(make_trace_source(azure.spec, ClassId(0u), 0, 1, "w")->has_prefix_data());
  TraceFile mooncake(R"({"timestamp": 1, "input_length": 600, "output_length": 1, "hash_ids": [4, 5]})"
                     "\n");
  mooncake.spec.time_unit = Seconds(1e-3);
  CHECK(make_trace_source(mooncake.spec, ClassId(0u), 0, 1, "w")->has_prefix_data());
}

TEST_CASE("guidellm#948, aiperf#581: hash_ids must be ceil(input / block), and the block size is stated") {
  TraceFile file(R"({"timestamp": 1000, "input_length": 1025, "output_length": 1, "hash_ids": [1, 2, 3]})"
                 "\n"
                 R"({"timestamp": 2000, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2, 3]})"
                 "\n");
  file.spec.time_unit = Seconds(1e-3);
  file.spec.block_tokens = 512;
  const LintReport report = lint_trace(file.spec);
  CHECK_THAT(report.notes.back(), Catch::Contains("blocks of 512 tokens"));
  REQUIRE(find(report, Oddity::kHashCount) != nullptr);
  CHECK(find(report, Oddity::kHashCount)->examples[0].where == "2");
  CHECK(find(report, Oddity::kHashCount)->examples[0].message ==
        "3 ids for 1024 tokens, but these make 2 blocks of 512");
}

TEST_CASE("AIPerf reads Mooncake timestamps as ms, GuideLLM as s: a scenario must say which") {
  TraceFile file(R"({"timestamp": 0, "input_length": 9, "output_length": 1})"
                 "\n"
                 R"({"timestamp": 4000, "input_length": 9, "output_length": 1})"
                 "\n");
  CHECK_THROWS_WITH(make_trace_source(file.spec, ClassId(0u), 0, 1, "w"), Catch::Contains("time_unit") &&
                                                                              Catch::Contains("0.25 requests/s") &&
                                                                              Catch::Contains("0.00025 requests/s"));
  file.spec.time_unit = Seconds(1);  // stated, and hardly meant
  const LintReport report = lint_trace(file.spec);
  CHECK(find(report, Oddity::kImplausibleRate) != nullptr);
}
