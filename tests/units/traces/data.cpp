// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "scenarios/traces/lint.h"
#include "scenarios/traces/stats.h"
#include "tests/support/data.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

TraceSpec spec_of(const std::string& path) {
  TraceSpec spec;
  spec.file = path;
  spec.guess_time_unit = true;
  return spec;
}

std::uint64_t count(const LintReport& report, Oddity oddity) {
  for (const LintFinding& finding : report.findings) {
    if (finding.oddity == oddity) return finding.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("The Azure code trace has 8,819 rows over 3,435.9 s, and its oddities are found", "[data]") {
  POOLCAST_NEED_DATA(path, "traces/AzureLLMInferenceTrace_code.csv");
  const TraceStats stats = measure_trace(spec_of(*path));
  CHECK(stats.format == TraceFormat::kAzure);
  CHECK(stats.rows == 8819);
  CHECK(stats.span_s == Approx(3435.948056).epsilon(1e-12));
  CHECK(stats.prompt.mean() == Approx(2047.8).epsilon(1e-4));
  CHECK(stats.output.max() == 1899);
  const LintReport report = lint_trace(spec_of(*path));
  CHECK(count(report, Oddity::kCrlf) == 8819);
  CHECK(count(report, Oddity::kNoFinalNewline) == 1);
  CHECK(count(report, Oddity::kSilence) >= 16);
  CHECK(count(report, Oddity::kShortGap) == 53);
  CHECK(report.usable);
  for (const LintFinding& finding : report.findings) {
    if (finding.oddity == Oddity::kSilence) {
      CHECK(finding.examples[0].where == "8102");
      CHECK_THAT(finding.examples[0].message, Catch::StartsWith("217.169 s before this row"));
    }
  }
}

TEST_CASE("The Mooncake trace has 3,993 rows and an ideal prefix hit rate of 64.0 %", "[data]") {
  POOLCAST_NEED_DATA(path, "traces/mooncake_synthetic_trace.jsonl");
  const TraceStats stats = measure_trace(spec_of(*path));
  CHECK(stats.format == TraceFormat::kMooncake);
  CHECK(stats.rows == 3993);
  CHECK(stats.span_s == 1022.025);
  CHECK(stats.block_tokens == 512);
  CHECK(static_cast<double>(stats.prefix_hits) / static_cast<double>(stats.blocks) == Approx(0.640).margin(0.0005));
  const LintReport report = lint_trace(spec_of(*path));
  CHECK(count(report, Oddity::kHashCount) == 0);
  CHECK(count(report, Oddity::kBlocksRoundDown) == 0);
  CHECK(count(report, Oddity::kBlocksRoundUp) == 3989);
  CHECK(count(report, Oddity::kTies) == 11);
  CHECK(report.usable);
}

TEST_CASE("All 43 sessions of coding agents are read", "[data]") {
  POOLCAST_NEED_DATA(path, "traces/agentic");
  TraceSpec spec = spec_of(*path);
  CHECK_THAT(error_of(spec), Catch::Contains("the output has 0 tokens"));
  spec.on_bad_row = TraceSpec::BadRow::kSkip;
  const TraceStats stats = measure_trace(spec);
  CHECK(stats.rows == 3065);
  CHECK(stats.skipped_rows == 6);
  CHECK(stats.sessions == 47);
  CHECK(stats.block_tokens == 64);
  const LintReport report = lint_trace(spec);
  CHECK(count(report, Oddity::kSubAgent) == 4);
  CHECK(count(report, Oddity::kZeroOutput) == 6);
  CHECK(count(report, Oddity::kHashCount) == 0);
  CHECK(count(report, Oddity::kBlocksRoundUp) == 0);
  CHECK(count(report, Oddity::kMissingApiTime) == 453);
  CHECK(report.usable);

  spec.replay = TraceSpec::Replay::kSessions;
  const auto source = make_trace_source(spec, ClassId(0u), 0, 1, "w");
  std::uint64_t sent = 0;
  for (; source->peek() != kNever; ++sent) {
    const Arrival arrival = source->pop();
    RequestRecord record;
    record.row = arrival.row;
    record.ended = arrival.intended + kNanosPerSecond;
    source->finished(record);
  }
  CHECK(sent == 3065);
}

TEST_CASE("Both ServeGen folders generate their published rates", "[data]") {
  POOLCAST_NEED_DATA(small, "traces/servegen/m-small");
  POOLCAST_NEED_DATA(image, "traces/servegen/mm-image");
  TraceSpec spec = spec_of(*image);
  TraceStats stats = measure_trace(spec);
  CHECK(stats.format == TraceFormat::kServeGen);
  CHECK(stats.rows + stats.skipped_rows == 818'610);  // the sum of rate x 600 s over all its rows
  CHECK(stats.span_s == Approx(86'400).epsilon(0.001));
  CHECK(count(lint_trace(spec), Oddity::kZeroRate) == 2946);

  spec = spec_of(*small);
  CHECK_THAT(error_of(spec), Catch::Contains("the client 1 has a rate but no file of length tables"));
  spec.on_bad_row = TraceSpec::BadRow::kSkip;
  spec.window_begin = Seconds(600'000);
  spec.window_end = Seconds(601'200);
  stats = measure_trace(spec);
  CHECK(stats.mean_rate_per_s() > 200);
  CHECK(stats.mean_rate_per_s() < 2000);
  const LintReport report = lint_trace(spec);
  CHECK(count(report, Oddity::kZeroRate) == 46'593);
  CHECK(count(report, Oddity::kMissingTable) == 8519);
}

TEST_CASE("Samples of other simulators are read", "[data]") {
  POOLCAST_NEED_DATA(sample, "traces/llmservingsim/sharegpt-llama-3.1-8b-300-sps10.jsonl.gz");
  POOLCAST_NEED_DATA(vidur, "traces/vidur_lengths/splitwise_code.csv");
  CHECK(measure_trace(spec_of(*sample)).rows == 300);
  CHECK(measure_trace(spec_of(*vidur)).rows == 8819);
}
