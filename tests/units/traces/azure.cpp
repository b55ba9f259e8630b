// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

}  // namespace

TEST_CASE("Azure 2023: CR LF, 7 decimals, no final newline") {
  const TraceFile file(kHeader + "2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8");
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].line == 2);
  CHECK(rows[0].timestamp.value == 0);
  CHECK(rows[0].prompt_tokens == 4808);
  CHECK(rows[0].output_tokens == 10);
  CHECK(to_sim_time(rows[1].timestamp) == 52'000'000);
  CHECK(rows[1].output_tokens == 8);
  CHECK(rows[1].session == UINT64_MAX);
}

TEST_CASE("Azure 2024: time zones, and fractions that are left out") {
  const TraceFile file(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00+00:00,2162,5\n"
      "2024-05-10 00:00:00.009930+00:00,2399,6\n2024-05-12 00:00:01+00:00,76,15\n");
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 3);
  CHECK(to_sim_time(rows[1].timestamp) == 9'930'000);
  CHECK(to_sim_time(rows[2].timestamp) == 2 * 86'400'000'000'000 + 1'000'000'000);
}

TEST_CASE("Bad Azure rows are named with file, line, column and caret") {
  const std::string good = "2023-11-16 18:17:03.97,4808,10\n";
  const auto error = [&](const std::string& row) {
    const TraceFile file(kHeader + good + row, "azure.csv");
    const std::string message = error_of(file.spec);
    return message.substr(message.find("azure.csv"));
  };
  CHECK(error("2023-11-16 18:17:04,12x,10\n") ==
        "azure.csv:3:21: \"12x\" is no token count\n"
        "2023-11-16 18:17:04,12x,10\n"
        "                    ^ on_bad_row: skip leaves such rows out");
  CHECK_THAT(error("2023-11-16 25:17:04,1,10\n"), Catch::Contains(":3:1: \"2023-11-16 25:17:04\" is no date and time"));
  CHECK_THAT(error("2023-11-16 18:17:04,1\n"), Catch::Contains(":3:1: a row has 3 fields"));
  CHECK_THAT(error("2023-11-16 18:17:04,1,2,3\n"), Catch::Contains(":3:1: a row has 3 fields"));
  CHECK_THAT(error("2023-11-16 18:17:04,-1,2\n"), Catch::Contains(":3: negative token count: prompt -1, output 2"));
  CHECK_THAT(error("2023-11-16 18:17:04,0,2\n"), Catch::Contains(":3: the prompt has 0 tokens"));
  CHECK_THAT(error("2023-11-16 18:17:04,5,0\n"), Catch::Contains(":3: the output has 0 tokens"));
  CHECK_THAT(error("2023-11-16 18:17:04,99999999999999999999,2\n"), Catch::Contains("is no token count"));
  CHECK_THAT(error("2023-11-16 18:17:01.97,5,2\n"), Catch::Contains(":3: earlier than the row before by 2 s"));
}

TEST_CASE("Bad rows are skipped and counted when the spec says so") {
  TraceFile file(kHeader +
                 "2023-11-16 18:17:03,4808,10\njunk\n2023-11-16 18:17:04,5,0\n2023-11-16 18:17:02,5,5\n"
                 "2023-11-16 18:17:05,7,8\n");
  file.spec.on_bad_row = TraceSpec::BadRow::kSkip;
  const auto reader = open_trace(file.spec);
  TraceRow row;
  CHECK(reader->next(row));
  CHECK(reader->next(row));
  CHECK(row.prompt_tokens == 7);
  CHECK(row.line == 6);
  CHECK_FALSE(reader->next(row));
  CHECK(reader->skipped_rows() == 3);
}

TEST_CASE("Rows out of order are put in order within the time that the spec allows") {
  TraceFile file(kHeader +
                 "2023-11-16 18:00:02,1,1\n2023-11-16 18:00:01,2,1\n2023-11-16 18:00:05,3,1\n"
                 "2023-11-16 18:00:05,4,1\n2023-11-16 18:00:03,5,1\n2023-11-16 18:00:09,6,1\n");
  CHECK_THAT(error_of(file.spec), Catch::Contains(":3: earlier than the row before by 1 s; the key `reorder`"));
  const TraceFile later(kHeader + "2023-11-16 18:00:01,2,1\n2023-11-16 18:00:05,3,1\n2023-11-16 18:00:03,5,1\n");
  CHECK_THAT(error_of(later.spec), Catch::Contains(":4: earlier than the row before by 2 s"));
  file.spec.reorder = Seconds(2);
  const auto rows = read_all(file.spec);
  std::vector<std::int64_t> order;
  for (const auto& row : rows) order.push_back(row.prompt_tokens);
  CHECK(order == std::vector<std::int64_t>{2, 1, 5, 3, 4, 6});
  CHECK(rows[0].timestamp.value == 0);
  CHECK(rows[5].timestamp.value == 8);
}

TEST_CASE("A file without the Azure header is no Azure trace") {
  TraceFile file("2023-11-16 18:17:03,4808,10\n", "raw.csv");
  file.spec.format = TraceFormat::kAzure;
  CHECK_THAT(error_of(file.spec), Catch::Contains("raw.csv:1:1: an Azure trace begins with the header"));
  file.spec.format = TraceFormat::kAuto;
  CHECK_THAT(error_of(file.spec), Catch::Contains("the format of the trace cannot be told: it begins with"));
}
