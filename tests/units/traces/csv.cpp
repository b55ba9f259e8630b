// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("poolcast's own CSV: columns in any order, optional ones blank or absent") {
  const TraceFile file(
      "model,output_tokens,prompt_tokens,timestamp_s,session,priority,think_time_s\n"
      "\"a,b\",3,4,100.25,7,1,2.5\n,5,6,100.5,,,\n");
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].model == "a,b");
  CHECK(rows[0].session == 7);
  CHECK(rows[0].has_priority);
  CHECK(rows[0].priority == 1);
  CHECK(rows[0].think_time.value == 2.5);
  CHECK(rows[1].timestamp.value == 0.25);
  CHECK(rows[1].prompt_tokens == 6);
  CHECK(rows[1].session == UINT64_MAX);
  CHECK_FALSE(rows[1].has_priority);
  CHECK(rows[1].think_time.value == -1);
  CHECK(read_all(TraceFile("timestamp_s,prompt_tokens,output_tokens\n1,2,3\n").spec).size() == 1);
}

TEST_CASE("Vidur's columns are understood") {
  const auto rows =
      read_all(TraceFile("arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,4808,10\n0.052,3180,8\n").spec);
  REQUIRE(rows.size() == 2);
  CHECK(to_sim_time(rows[1].timestamp) == 52'000'000);
  CHECK(rows[1].output_tokens == 8);
}

TEST_CASE("Bad CSV rows and headers are named") {
  const auto error = [](const std::string& text) { return error_of(TraceFile(text, "t.csv").spec); };
  const std::string header = "timestamp_s,prompt_tokens,output_tokens,priority\n";
  CHECK_THAT(error(header + "0,1,1\n"), Catch::Contains("t.csv:2:1: the row has 3 fields, the header 4"));
  CHECK_THAT(error(header + "nan,1,1,\n"), Catch::Contains(":2:1: timestamp_s: \"nan\" is no finite number"));
  CHECK_THAT(error(header + "0,,1,\n"), Catch::Contains(":2:3: prompt_tokens is missing"));
  CHECK_THAT(error(header + "0,9999999999999999999,1,\n"), Catch::Contains("is no whole number in range"));
  CHECK_THAT(error(header + "0,1,1,99999999999\n"),
             Catch::Contains(":2:7: priority: 99999999999 does not fit 32 bits"));
  CHECK_THAT(error(header + "\"0,1,1,\n"), Catch::Contains(":2:1: a quote is not closed"));
  CHECK_THAT(error("timestamp_s,prompt_tokens,output_tokens,sesion\n"),
             Catch::Contains("t.csv:1:41: unknown column \"sesion\"; did you mean \"session\"?"));
  CHECK_THAT(error("timestamp_s,prompt_tokens,output_tokens,session,session\n"), Catch::Contains("stands there twice"));
  CHECK_THAT(error("timestamp_s,prompt_tokens\n"), Catch::Contains("the header has no column \"output_tokens\""));
}

TEST_CASE("Files that hold no trace are named") {
  const auto error = [](const std::string& text) { return error_of(TraceFile(text, "t").spec); };
  CHECK_THAT(error(""), Catch::Contains("/t: the file is empty"));
  CHECK_THAT(error(std::string("\x7f"
                               "ELF\x02\x01\0\0\xff\xfe",
                               10)),
             Catch::Contains("the format of the trace cannot be told"));
  CHECK_THAT(error("caf\xc3\xa9 \xe9\x80\x1b[31m"),
             Catch::Contains("it begins with \"caf\xc3\xa9 \\xe9\\x80\\x1b[31m\""));
  CHECK_THAT(error("TIMESTAMP,ContextTokens,GeneratedTokens\r,\x9b\xff\n"),
             Catch::EndsWith("\nTIMESTAMP,ContextTokens,GeneratedTokens\\x0d,\\x9b\\xff\n^"));
  CHECK_THAT(error("num_prefill_tokens,num_decode_tokens\n1,2\n"), Catch::Contains("it has lengths but no timestamps"));
  CHECK_THAT(error("{\"a\": 1}\n"), Catch::Contains("JSON without the fields of a known trace"));
  TraceSpec nowhere;
  nowhere.file = "/none/such";
  CHECK_THAT(error_of(nowhere), Catch::Contains("/none/such: cannot be opened"));
  CHECK(read_all(TraceFile("timestamp_s,prompt_tokens,output_tokens\n").spec).empty());
}
