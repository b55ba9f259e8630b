// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("BurstGPT, first releases: whole seconds, models, responses of 0 tokens") {
  TraceFile file(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,230,1317,Conversation log\n"
      "118,GPT-4,417,276,693,API log\n118,GPT-4,417,0,417,API log\n");
  CHECK_THAT(error_of(file.spec), Catch::Contains(":5: the output has 0 tokens"));
  file.spec.on_bad_row = TraceSpec::BadRow::kSkip;
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].timestamp.value == 0);
  CHECK(rows[2].timestamp.value == 113);
  CHECK(rows[2].model == "GPT-4");
  CHECK(rows[2].prompt_tokens == 417);
  CHECK(rows[2].output_tokens == 276);
}

TEST_CASE("BurstGPT, third release: sessions, some blank, and think times from the elapsed times") {
  TraceFile file(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "0,chat-a,2.5,ChatGPT,10,20,30,Conversation log\n"
      "1,,1,GPT-4,10,20,30,API log\n"
      "10,chat-a,4,ChatGPT,40,20,60,Conversation log\n"
      "12,chat-b,1,ChatGPT,5,5,10,Conversation log\n"
      "13,chat-a,1,ChatGPT,70,5,75,Conversation log\n");
  auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].session == rows[2].session);
  CHECK(rows[0].session != rows[3].session);
  CHECK(rows[1].session == UINT64_MAX);
  CHECK(rows[2].think_time.value == -1);
  file.spec.replay = TraceSpec::Replay::kSessions;
  rows = read_all(file.spec);
  CHECK(rows[0].think_time.value == -1);
  CHECK(rows[2].think_time.value == 7.5);
  CHECK(rows[4].think_time.value == 0);  // it was sent before the answer had come
}

TEST_CASE("A misspelt BurstGPT column is an error with the nearest spelling") {
  TraceFile file("Timestamp,Model,Request tokens,Respons tokens,Total tokens,Log Type\n");
  CHECK_THAT(error_of(file.spec), Catch::Contains(":1:1: the header has no column \"Response tokens\""));
  TraceFile extra("Timestamp,Modell,Request tokens,Response tokens,Total tokens,Log Type\n");
  CHECK_THAT(error_of(extra.spec), Catch::Contains(":1:11: unknown column \"Modell\"; did you mean \"Model\"?"));
}
