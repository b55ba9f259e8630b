// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/stats.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "scenarios/traces/prefix_hits.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("Lengths are counted exactly") {
  LengthCounts counts;
  CHECK(counts.quantile(0.5) == 0);
  for (int i = 1; i <= 1000; ++i) counts.add(i);
  CHECK(counts.mean() == 500.5);
  CHECK(counts.quantile(0.5) == 500);
  CHECK(counts.quantile(0.99) == 990);
  CHECK(counts.quantile(1) == 1000);
  CHECK(counts.min() == 1);
  counts.add(std::int64_t{1} << 50);
  CHECK(counts.max() == std::int64_t{1} << 50);
  CHECK(counts.quantile(1) == std::int64_t{1} << 50);
}

TEST_CASE("Rates by window hold every row, however long the trace becomes") {
  RateWindows rates;
  for (int i = 0; i < 100'000; ++i) rates.add(i * 0.9);
  std::uint64_t rows = 0;
  double last = 0;
  for (const RateWindow& window : rates.windows(12)) {
    CHECK(window.begin_s == last);
    CHECK(window.rate_per_s() == Approx(1 / 0.9).epsilon(0.01));
    last = window.end_s;
    rows += window.rows;
  }
  CHECK(rows == 100'000);
  CHECK(last == Approx(99'999 * 0.9));
  CHECK(rates.quiet_head_s() == 0);
  CHECK(RateWindows().windows(12).empty());
}

TEST_CASE("A block hits only when all the blocks before it hit") {
  PrefixHits hits;
  hits.add({1, 2, 3});
  hits.add({1, 2, 4, 3});
  CHECK(hits.hits() == 2);
  hits.add({2, 3});  // the same ids in another place are other blocks
  CHECK(hits.hits() == 2);
  hits.add({1, 2, 4, 3, 9});
  CHECK(hits.hits() == 6);
  CHECK(hits.blocks() == 14);
}

TEST_CASE("What a trace holds, by hand") {
  TraceFile file(
      "timestamp_s,prompt_tokens,output_tokens,priority,session,think_time_s,model\n"
      "10,100,1,,4,,a\n12,200,2,,5,,b\n12,300,3,,4,,a\n16,400,4,,,,a\n");
  const TraceStats stats = measure_trace(file.spec);
  CHECK(stats.format == TraceFormat::kCsv);
  CHECK(stats.rows == 4);
  CHECK(stats.span_s == 6);
  CHECK(stats.mean_rate_per_s() == 0.5);
  CHECK(stats.gaps.mean_s == 2);
  CHECK(stats.gaps.cv == Approx(std::sqrt(8.0 / 3) / 2));
  CHECK(stats.gaps.zeros == 1);
  CHECK(stats.gaps.longest.front().length_s == 4);
  CHECK(stats.gaps.longest.front().line == 5);
  CHECK(stats.quantum_s == 1);
  CHECK(stats.sessions == 2);
  CHECK(stats.rows_with_session == 3);
  CHECK(stats.models == std::vector<std::pair<std::string, std::uint64_t>>{{"a", 3}, {"b", 1}});
  CHECK(stats.prompt.mean() == 250);
  CHECK(stats.block_tokens == 0);
}
