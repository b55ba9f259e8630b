// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "scenarios/traces/lint.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::string session(const std::string& requests,
                    const std::string& head = R"("block_size":64,"hash_id_scope":"local")") {
  return "{\"id\":\"x\"," + head + ",\"requests\":[" + requests + "],\"totals\":{}}";
}

/// A session that calls a sub-agent between its second and third turn.
const std::string kWithSubAgent = session(
    R"({"t":0.0,"type":"n","model":"big","in":130,"out":10,"hash_ids":[1,2],"api_time":4.0,"think_time":0.0},)"
    R"({"t":10.0,"type":"n","model":"big","in":200,"out":11,"hash_ids":[1,2,3],"api_time":5.0,"think_time":6.0},)"
    R"({"t":20.0,"type":"subagent","agent_id":"a","requests":[)"
    R"({"t":0.0,"type":"n","model":"small","in":64,"out":5,"hash_ids":[9],"api_time":1.0,"think_time":0.0},)"
    R"({"t":3.0,"type":"n","model":"small","in":70,"out":6,"hash_ids":[9],"api_time":1.0,"think_time":2.0}]},)"
    R"({"t":22.0,"type":"s","model":"big","in":300,"out":12,"hash_ids":[1,2,3,4],"think_time":7.0},)"
    R"({"t":30.0,"type":"s","model":"big","in":330,"out":13,"hash_ids":[1,2,3,4,5]})");

}  // namespace

TEST_CASE("A session of a coding agent: sub-agents are timed from their start and are sessions of their own") {
  const TraceFile file(gzipped(kWithSubAgent));
  const auto rows = read_all(file.spec);
  REQUIRE(rows.size() == 6);
  std::vector<double> times;
  std::vector<std::uint64_t> sessions;
  for (const auto& row : rows) {
    times.push_back(row.timestamp.value);
    sessions.push_back(row.session);
  }
  CHECK(times == std::vector<double>{0, 10, 20, 22, 23, 30});
  CHECK(sessions == std::vector<std::uint64_t>{0, 0, 1, 0, 1, 0});
  CHECK(open_trace(file.spec)->block_tokens() == 64);
  CHECK(rows[2].model == "small");
  CHECK(rows[2].after_session == 0);
  CHECK(rows[2].think_time.value == 5);  // 20 s less the end of the caller's last turn at 15 s
  CHECK(rows[3].think_time.value == 7);
  CHECK(rows[4].think_time.value == 2);
  CHECK(rows[4].after_session == UINT64_MAX);
  CHECK(rows[5].think_time.value == 8);  // not stated: 30 s less 22 s, as the turn at 22 s states no api_time
  CHECK(rows[5].hash_ids == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
}

TEST_CASE("A folder of sessions is one trace: all at once, or one after the other") {
  TemporaryFolder folder;
  write_file(folder.file("b.json"), kWithSubAgent);
  write_file(folder.file("a.json.gz"),
             gzipped(session(R"({"t":0.0,"in":64,"out":1,"hash_ids":[1]},{"t":15.0,"in":64,"out":1,"hash_ids":[1]})")));
  write_file(folder.file("notes.txt"), "not a session");
  TraceSpec spec;
  spec.file = folder.path().string();
  const auto rows = read_all(spec);
  REQUIRE(rows.size() == 8);
  CHECK(rows[0].session == 0);
  CHECK(rows[1].session == 1);  // b.json
  CHECK(rows[0].hash_ids != rows[1].hash_ids);
  CHECK(rows[0].hash_ids[0] != rows[1].hash_ids[0]);  // ids are local to a file
  spec.file_gap = Seconds(100);
  const auto apart = read_all(spec);
  CHECK(apart[1].timestamp.value == 15);
  CHECK(apart[2].timestamp.value == 100);
}

TEST_CASE("Bad rows of a session are named by file and place") {
  const auto error = [](const std::string& text) { return error_of(TraceFile(text, "s.json").spec); };
  CHECK_THAT(error(session(R"({"t":0.0,"in":64,"out":0})")),
             Catch::Contains("s.json: requests[0]: the output has 0 tokens; on_bad_row: skip"));
  CHECK_THAT(error(session(R"({"t":0.0,"in":64,"out":1},{"t":1.0,"out":1})")),
             Catch::Contains("requests[1]: in is missing"));
  CHECK_THAT(error(session(R"({"t":0.0,"type":"subagent","requests":[{"t":0.0,"in":"x","out":1}]})")),
             Catch::Contains("requests[0].requests[0]: in is no whole number in range"));
  CHECK_THAT(error(session(R"({"in":64,"out":1})")), Catch::Contains("requests[0]: t is missing"));
  CHECK_THAT(error(session(R"({"t":-1,"in":64,"out":1})")), Catch::Contains("t is no number of seconds"));
  CHECK_THAT(error(session("7")), Catch::Contains("requests[0]: is no object"));
  CHECK_THAT(error(session(R"({"t":0.0,"in":64,"out":1})").substr(0, 70)), Catch::Contains("s.json: no valid JSON"));
  std::string nested = R"({"t":0.0,"in":1,"out":1})";
  for (int i = 0; i < 40; ++i) nested = R"({"t":0.0,"requests":[)" + nested + "]}";
  CHECK_THAT(error(session(nested)), Catch::Contains("nested too deeply"));
}

TEST_CASE("A replay of sessions waits for answers; a sub-agent follows its caller's turn") {
  TraceFile file(kWithSubAgent);
  file.spec.replay = TraceSpec::Replay::kSessions;
  const auto source = make_trace_source(file.spec, ClassId(0u), 3, 1, "w");
  CHECK(source->wants_feedback());
  CHECK(source->has_prefix_data());
  const auto serve = [&](double end_s) {
    const Arrival arrival = source->pop();
    RequestRecord record;
    record.row = arrival.row;
    record.session = arrival.session;
    record.ended = to_sim_time(Seconds(end_s));
    source->finished(record);
    return arrival;
  };
  CHECK(to_seconds(source->peek()).value == 0);
  CHECK(serve(100).prompt_tokens == 130);
  CHECK(to_seconds(source->peek()).value == 106);  // think_time 6 s after the end
  const Arrival second = serve(200);
  CHECK(second.prompt_tokens == 200);
  CHECK(second.priority == 3);
  CHECK(to_seconds(source->peek()).value == 205);  // the sub-agent, 5 s after its caller's turn
  CHECK(serve(300).prompt_tokens == 64);
  CHECK(to_seconds(source->peek()).value == 207);  // the caller does not wait for it
  CHECK(source->pop().prompt_tokens == 300);       // and never comes back
  CHECK(to_seconds(source->peek()).value == 302);
  CHECK(source->pop().prompt_tokens == 70);
  CHECK(source->peek() == kNever);
}
