// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/workload.h"
#include "tests/support/program.h"
#include "tests/support/trace_files.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

const std::string kTrace = "timestamp_s,prompt_tokens,output_tokens\n0,100,10\n0.5,200,20\n1,300,30\n1.5,400,40\n";

}  // namespace

TEST_CASE("trace stats prints text and JSON") {
  const TraceFile file(kTrace, "t.csv");
  const Ran text = run_program({"trace", "stats", file.spec.file});
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Catch::Contains("t.csv: csv trace\n  format csv, by its header\n") &&
                           Catch::Contains("rows          4\n") && Catch::Contains("mean rate     2.00/s\n"));
  const Ran json = run_program({"trace", "stats", file.spec.file, "--format", "json", "--limit", "3"});
  REQUIRE(json.status == 0);
  const auto parsed = nlohmann::json::parse(json.out);
  CHECK(parsed["rows"] == 3);
  CHECK(parsed["span_s"] == 1.0);
  CHECK(parsed["prompt_tokens"]["p50"] == 200);
  CHECK(parsed["gaps"]["cv"] == 0.0);
  CHECK(parsed["prefix"].is_null());
  CHECK(parsed["stopped_at_limit"] == true);
}

TEST_CASE("trace lint exits with 1 when the trace cannot be used as it is") {
  const TraceFile file(kTrace + "2,5,0\n", "t.csv");
  const Ran ran = run_program({"trace", "lint", file.spec.file});
  CHECK(ran.status == 1);
  CHECK_THAT(ran.out, Catch::Contains("fault   zero-output                 1  rows without an output token\n"
                                      "        at 6: the output has 0 tokens\n"
                                      "not usable as it is\n"));
  CHECK(run_program({"trace", "lint", file.spec.file, "--on-bad-row", "skip"}).status == 0);
  CHECK(run_program({"trace", "lint", TraceFile(kTrace).spec.file}).status == 0);
  const Ran json = run_program({"trace", "lint", file.spec.file, "--format", "json"});
  CHECK(json.status == 1);
  CHECK(nlohmann::json::parse(json.out)["findings"][0]["key"] == "zero-output");
}

TEST_CASE("Wrong input of the trace commands exits with 2 and says what is wrong") {
  const TraceFile file(kTrace, "t.csv");
  const Ran missing = run_program({"trace", "lint", "/none/such"});
  CHECK(missing.status == 2);
  CHECK(missing.err == "/none/such: no such file\n");
  const Ran device = run_program({"trace", "stats", "/dev/null"});
  CHECK(device.status == 2);
  CHECK_THAT(device.err, Catch::Contains("/dev/null: is a pipe or a device; a trace is read twice"));
  CHECK(run_program({"trace", "stats", file.spec.file, "--on-bad-row", "maybe"}).status == 2);
  const Ran format = run_program({"trace", "stats", file.spec.file, "--trace-format", "azur"});
  CHECK(format.status == 2);
  CHECK_THAT(format.err, Catch::Contains("azure"));
  const Ran name = run_program({"trace", "convert", file.spec.file, file.folder.file("t.txt")});
  CHECK(name.status == 2);
  CHECK_THAT(name.err, Catch::Contains("the name does not tell the format to write"));
  const Ran stop = run_program({"trace", "stats", TraceFile(kTrace + "x,1,1\n").spec.file, "--on-bad-row", "stop"});
  CHECK(stop.status == 2);
  CHECK(run_program({"trace", "synth", file.folder.file("s.csv"), "--rate", "1/s", "--prompt-tokens", "5",
                     "--output-tokens", "5"})
            .status == 2);
}

TEST_CASE("trace convert goes round through every format") {
  const TraceFile file(R"({"timestamp": 0, "input_length": 1030, "output_length": 5, "hash_ids": [1, 2, 3]})"
                       "\n"
                       R"({"timestamp": 1500, "input_length": 512, "output_length": 7, "hash_ids": [1]})"
                       "\n",
                       "m.jsonl");
  const auto path = [&](const char* name) { return file.folder.file(name); };
  const Ran first = run_program({"trace", "convert", file.spec.file, path("a.jsonl"), "--time-unit", "ms"});
  CHECK(first.status == 0);
  CHECK_THAT(first.out, Catch::EndsWith("a.jsonl: 2 rows written\n"));
  CHECK_THAT(first.err, Catch::Contains("time unit 0.001 s, as stated"));
  CHECK(run_program({"trace", "convert", path("a.jsonl"), path("b.h5")}).status == 0);
  CHECK(run_program({"trace", "convert", path("b.h5"), path("c.jsonl")}).status == 0);
  CHECK(read_file(path("a.jsonl")) == read_file(path("c.jsonl")));
  CHECK(read_file(path("a.jsonl")) ==
        R"({"timestamp_s":0,"prompt_tokens":1030,"output_tokens":5,"block_tokens":512,"hash_ids":[1,2,3]})"
        "\n"
        R"({"timestamp_s":1.5,"prompt_tokens":512,"output_tokens":7,"block_tokens":512,"hash_ids":[1]})"
        "\n");
  const Ran csv = run_program({"trace", "convert", path("b.h5"), path("plain"), "--to", "csv"});
  CHECK(csv.status == 0);
  CHECK_THAT(csv.err, Catch::Contains("CSV has no place for hash_ids: 2 rows lost theirs"));
  CHECK(read_file(path("plain")) ==
        "timestamp_s,prompt_tokens,output_tokens,priority,session,think_time_s,model\n"
        "0,1030,5,,,,\n1.5,512,7,,,,\n");
}

TEST_CASE("trace convert leaves what was there when it fails") {
  const TraceFile file(kTrace + "x,1,1\n", "bad.csv");
  write_file(file.folder.file("out.csv"), "before");
  CHECK(run_program({"trace", "convert", file.spec.file, file.folder.file("out.csv")}).status == 2);
  CHECK(read_file(file.folder.file("out.csv")) == "before");
  CHECK(file.folder.names().size() == 2);
}

TEST_CASE("trace synth makes the load of a scenario's synth") {
  const TemporaryFolder folder;
  const std::vector<std::string> command = {"trace",
                                            "synth",
                                            folder.file("s.csv"),
                                            "--requests",
                                            "2000",
                                            "--rate",
                                            "5/s",
                                            "--arrivals",
                                            "{process: gamma, cv: 2}",
                                            "--prompt-tokens",
                                            "{distribution: lognormal, mean: 1024, cv: 0.8}",
                                            "--output-tokens",
                                            "256",
                                            "--seed",
                                            "7"};
  CHECK(run_program(command).status == 0);
  const std::string first = read_file(folder.file("s.csv"));
  CHECK(run_program(command).status == 0);
  CHECK(first == read_file(folder.file("s.csv")));
  TraceSpec spec;
  spec.file = folder.file("s.csv");
  const auto rows = read_all(spec);
  CHECK(rows.size() == 2000);
  CHECK(rows[5].output_tokens == 256);

  SynthSpec synth;
  synth.requests = 2000;
  synth.arrivals.process = ArrivalSpec::Process::kGamma;
  synth.arrivals.rate_per_s = 5;
  synth.arrivals.cv = 2;
  synth.prompt_tokens.kind = LengthSpec::Kind::kLognormal;
  synth.prompt_tokens.mean = 1024;
  synth.prompt_tokens.cv = 0.8;
  synth.output_tokens.mean = 256;
  const auto source = make_source(synth, ClassId(0u), 0, 7, "workload/0");
  const SimTime start = source->peek();
  for (const TraceRow& row : rows) {
    const Arrival arrival = source->pop();
    REQUIRE(std::abs(arrival.intended - start - to_sim_time(row.timestamp)) <= 1);
    REQUIRE(arrival.prompt_tokens == row.prompt_tokens);
  }
}

TEST_CASE("Each trace command shows a real example in its help") {
  for (const char* command : {"stats", "lint", "convert", "synth"}) {
    const Ran ran = run_program({"trace", command, "--help"});
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Catch::Contains("Example:\n  poolcast trace " + std::string(command)));
  }
}
