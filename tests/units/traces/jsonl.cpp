// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "scenarios/traces/probe.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kMooncake =
    R"({"timestamp": 27482, "input_length": 6758, "output_length": 500, "hash_ids": [0,1,2,3,4,5,6,7,8,9,10,11,12,13]})"
    "\n"
    R"({"timestamp": 30535, "input_length": 7322, "output_length": 490, "hash_ids": [0,14,15,16,17,18,19,20,21,22,23,24,25,26,27]})"
    "\n"
    R"({"timestamp": 30535, "input_length": 512, "output_length": 1, "hash_ids": [0]})"
    "\n";

}  // namespace

TEST_CASE("Mooncake: timestamps in the stated unit, hash ids per 512 tokens") {
  TraceFile file(kMooncake);
  file.spec.time_unit = Seconds(1e-3);
  TraceFormat format{};
  CHECK(open_trace(file.spec, &format)->block_tokens() == 512);
  CHECK(format == TraceFormat::kMooncake);
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 3);
  CHECK(to_sim_time(rows[1].timestamp) == 3'053'000'000);
  CHECK(rows[1].prompt_tokens == 7322);
  CHECK(rows[1].output_tokens == 490);
  CHECK(rows[1].hash_ids.size() == 15);
  CHECK(rows[1].hash_ids[14] == 27);
}

TEST_CASE("A Mooncake trace without a time unit is an error that shows what each unit would mean") {
  TraceFile file(kMooncake, "mooncake.jsonl");
  CHECK_THAT(error_of(file.spec),
             Catch::Contains("mooncake.jsonl: time_unit: timestamps of this format have no stated unit") &&
                 Catch::Contains("here ms would mean 0.655 requests/s and s 0.000655 requests/s") &&
                 Catch::Contains("most likely `time_unit: 1 ms`"));
  file.spec.guess_time_unit = true;
  const TraceProbe probe = probe_trace(file.spec);
  CHECK(probe.time_unit == Seconds(1e-3));
  CHECK(probe.notes[1] == "time unit 0.001 s, the likely one; the first 3 rows come at 0.655 requests/s");
}

TEST_CASE("A time unit that makes the rate implausible is noted") {
  TraceFile file(kMooncake);
  file.spec.time_unit = Seconds(1);
  const auto notes = probe_trace(file.spec).notes;
  CHECK_THAT(notes.at(2), Catch::Contains("0.000655 requests/s is implausible: is time_unit right?"));
}

TEST_CASE("A unit for a format that states its own is an error") {
  TraceFile file("timestamp_s,prompt_tokens,output_tokens\n0,1,1\n");
  file.spec.time_unit = Seconds(1);
  CHECK_THAT(error_of(file.spec), Catch::Contains("time_unit: the format csv states its own unit"));
}

TEST_CASE("A key that has no effect on the format is an error that names the formats it is for") {
  TraceFile file("timestamp_s,prompt_tokens,output_tokens\n0,1,1\n");
  file.spec.block_tokens = 16;
  CHECK_THAT(error_of(file.spec), Catch::EndsWith("trace: block_tokens: has no effect on the format csv; it is for "
                                                  "mooncake, jsonl, hdf5 and agentic"));
  file.spec.block_tokens = std::nullopt;
  file.spec.file_gap = Seconds(1);
  CHECK_THAT(error_of(file.spec), Catch::EndsWith("file_gap: has no effect on the format csv; it is for agentic"));
  TraceSpec folder;
  folder.file = "/";
  folder.format = TraceFormat::kServeGen;
  folder.reorder = Seconds(1);
  CHECK_THAT(error_of(folder), Catch::Contains("reorder: has no effect on the format servegen"));
}

TEST_CASE("Qwen-Bailian: blocks of 16, seconds, chats joined into sessions") {
  TraceFile file(
      R"({"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 33, "output_length": 9, "type": "text", "turn": 1, "hash_ids": [7, 8, 9]})"
      "\n"
      R"({"chat_id": 2, "parent_chat_id": -1, "timestamp": 0.75, "input_length": 16, "output_length": 9, "type": "text", "turn": 1, "hash_ids": [10]})"
      "\n"
      R"({"chat_id": 5, "parent_chat_id": 1, "timestamp": 1.5, "input_length": 64, "output_length": 9, "type": "text", "turn": 2, "hash_ids": [7, 8, 11, 12]})"
      "\n"
      R"({"chat_id": 9, "parent_chat_id": 5, "timestamp": 2.5, "input_length": 65, "output_length": 9, "type": "text", "turn": 3, "hash_ids": [7, 8, 11, 12, 13]})"
      "\n");
  file.spec.guess_time_unit = true;
  const TraceProbe probe = probe_trace(file.spec);
  CHECK(probe.block_tokens == 16);
  CHECK(probe.time_unit == Seconds(1));
  file.spec.replay = TraceSpec::Replay::kSessions;
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].session == 1);
  CHECK(rows[1].session == 2);
  CHECK(rows[2].session == 1);
  CHECK(rows[3].session == 1);
  CHECK(rows[3].timestamp.value == 2);
}

TEST_CASE("The block size is the stated one, else the one that fits, and the probe says which") {
  TraceFile file(kMooncake);
  file.spec.guess_time_unit = true;
  CHECK_THAT(probe_trace(file.spec).notes.back(),
             Catch::Contains("hash_ids: blocks of 512 tokens, the size that fits the prompts"));
  file.spec.block_tokens = 256;
  CHECK_THAT(probe_trace(file.spec).notes.back(), Catch::Contains("hash_ids: blocks of 256 tokens, as stated"));
  for (const auto& row : read_all(file.spec)) CHECK(row.hash_ids.empty());  // they do not fit: not to be believed

  TraceFile short_ones(R"({"timestamp": 1, "input_length": 5, "output_length": 1, "hash_ids": [4]})"
                       "\n");
  short_ones.spec.guess_time_unit = true;
  CHECK_THAT(probe_trace(short_ones.spec).notes.back(), Catch::Contains("blocks of 512 tokens, the usual size"));

  TraceFile misfit(R"({"timestamp": 1, "input_length": 5, "output_length": 1, "hash_ids": [4, 5, 6]})"
                   "\n");
  misfit.spec.guess_time_unit = true;
  CHECK(probe_trace(misfit.spec).block_tokens == 0);
  CHECK_THAT(probe_trace(misfit.spec).notes.back(), Catch::Contains("no block size fits hash_ids"));
}

TEST_CASE("LLMServingSim's JSONL states nanoseconds in its names") {
  const TraceFile file(
      R"({"input_toks":10,"output_toks":70,"arrival_time_ns":46926808,"input_tok_ids":[1,2],"output_tok_ids":[3]})"
      "\n"
      R"({"input_toks":22,"output_toks":104,"arrival_time_ns":347938952})"
      "\n");
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 2);
  CHECK(to_sim_time(rows[1].timestamp) == 301'012'144);
  CHECK(rows[1].prompt_tokens == 22);
}

TEST_CASE("poolcast's own JSONL has every field of a row") {
  const TraceFile file(
      R"({"timestamp_s": 1.5, "prompt_tokens": 130, "output_tokens": 3, "priority": -2, "session": 4, "think_time_s": 0.25, "model": "m \"1\"", "block_tokens": 64, "hash_ids": [1, 18446744073709551615, 3]})"
      "\n"
      R"({"timestamp_s": 2.5, "prompt_tokens": 1, "output_tokens": 1, "session": "alice", "after_session": 4})"
      "\n");
  CHECK(open_trace(file.spec)->block_tokens() == 64);
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].has_priority);
  CHECK(rows[0].priority == -2);
  CHECK(rows[0].session == 4);
  CHECK(rows[0].think_time.value == 0.25);
  CHECK(rows[0].model == "m \"1\"");
  CHECK(rows[0].hash_ids == std::vector<std::uint64_t>{1, UINT64_MAX, 3});
  CHECK_FALSE(rows[1].has_priority);
  CHECK(rows[1].hash_ids.empty());
  CHECK(rows[1].model.empty());
  CHECK(rows[1].timestamp.value == 1);
  CHECK(rows[1].after_session == 4);
  CHECK(rows[1].session != UINT64_MAX);
}

TEST_CASE("Bad JSON lines are named") {
  const std::string good = R"({"timestamp_s": 1, "prompt_tokens": 1, "output_tokens": 1})"
                           "\n";
  const auto error = [&](const std::string& line) { return error_of(TraceFile(good + line + "\n", "t.jsonl").spec); };
  CHECK_THAT(error("{\"timestamp_s\": 1, \"prompt_tok"), Catch::Contains("t.jsonl:2:1: no valid JSON"));
  CHECK_THAT(error("[1, 2]"), Catch::Contains(":2:1: a line of a JSONL trace is an object"));
  CHECK_THAT(error(R"({"timestamp_s": 2, "output_tokens": 1})"),
             Catch::Contains(":2: input_length or prompt_tokens is missing"));
  CHECK_THAT(error(R"({"prompt_tokens": 2, "output_tokens": 1})"), Catch::Contains(":2: timestamp is missing"));
  CHECK_THAT(error(R"({"timestamp_s": 2, "prompt_tokens": 1.5, "output_tokens": 1})"),
             Catch::Contains("prompt_tokens: \"1.5\" is not a value of the right kind or range"));
  CHECK_THAT(error(R"({"timestamp_s": "2", "prompt_tokens": 1, "output_tokens": 1})"),
             Catch::Contains(":2:1: timestamp_s: the string \"2\" is not a value of the right kind or range"));
  CHECK_THAT(error(R"({"timestamp_s": 2, "prompt_tokens": 1, "output_tokens": 1, "block_tokens": 0})"),
             Catch::Contains("block_tokens: \"0\" is not a value of the right kind or range"));
  CHECK_THAT(error(R"({"timestamp_s": 2, "prompt_tokens": 1, "output_tokens": 1, "think_time_s": 9.1e9})"),
             Catch::Contains(":2: the think time is more than 285 years"));
  CHECK_THAT(error(R"({"timestamp_s": 2, "prompt_tokens": 99999999999999999999, "output_tokens": 1})"),
             Catch::Contains("no valid JSON") || Catch::Contains("not a value"));
  CHECK_THAT(error(R"({"timestamp_s": NaN, "prompt_tokens": 1, "output_tokens": 1})"),
             Catch::Contains("no valid JSON"));
  CHECK_THAT(error(R"({"timestamp_s": 2, "prompt_tokens": -4, "output_tokens": 1})"),
             Catch::Contains("negative token count"));
  CHECK_THAT(
      error(R"({"timestamp_s": 2, "prompt_tokens": 4, "output_tokens": 1, "hash_ids": ["x"], "block_tokens": 1})"),
      Catch::Contains("hash_ids"));
  CHECK_THAT(error(R"({"timestamp_s": 2, "prompt_tokens": 4, "output_tokens": 1, "priority": 3000000000})"),
             Catch::Contains("does not fit 32 bits"));
  CHECK_THAT(error(R"({"timestamp_s": 0.5, "prompt_tokens": 4, "output_tokens": 1})"),
             Catch::Contains(":2: earlier than the row before by 0.5 s"));
}
