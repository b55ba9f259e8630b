// SPDX-License-Identifier: Apache-2.0
// Qualification records: what they bind, and when they hold.
#include <limits>
#include <string>
#include <vector>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "scenarios/digest.h"
#include "scenarios/json_text.h"
#include "scenarios/qualification_checks.h"
#include "scenarios/qualification_history.h"
#include "tests/support/program.h"
#include "tests/units/scenarios/qualification_fixture.h"

using namespace poolcast;
using namespace poolcast::testing;

TEST_CASE("a record is an in-toto statement that binds model, artifact, evaluation, shapes, software and price") {
  const Fixture f;
  const Json record = f.record();
  CHECK(record["_type"] == "https://in-toto.io/Statement/v1");
  CHECK(record["predicateType"] == kPredicateType);
  CHECK(record["subject"][0]["name"] == "s.yaml");
  CHECK(record["subject"][0]["digest"]["sha256"] == sha256_of_file(f.scenario));
  const Json& p = record["predicate"];
  CHECK(p["date"] == "2026-11-30");
  const Json& a = p["bindings"][0];
  CHECK(a["model"] == "chat");
  CHECK(a["artifact"]["name"] == "chat-fp8-r3");
  CHECK(a["evaluation"]["suite"] == "eval-1");
  CHECK(a["evaluation"]["samples"] == 2000);
  CHECK(a["engine"]["version"] == "0.19");
  CHECK(a["price_per_device_hour_usd"] == 2.1);
  CHECK(a["limits"]["context_tokens"] == 8192);
  const Json& shapes = p["request_shapes"][0];
  CHECK(shapes["class"] == "fast");
  CHECK(shapes["output_tokens"]["p99"] == 10);
  CHECK(shapes["prompt_tokens"]["p50"] <= shapes["prompt_tokens"]["p99"]);
  const Json& objective = p["figures"]["objectives"][0];
  CHECK(objective["limit_s"] == 2.0);
  CHECK(objective["achieved_s"]["low"] <= objective["achieved_s"]["mean"]);
  CHECK(objective["achieved_s"]["replications"] == 3);
  CHECK(p["policy"]["gateway"]["weights"]["a"] == "3");
}

TEST_CASE("a record that was written holds: the same bytes again, sealed, the same figures") {
  const Fixture f;
  const Json made = f.written();
  CHECK(read_file(f.path) == json_text(made));
  CHECK(json_text(f.record()) == json_text(made));
  CHECK(is_sealed(read_record(f.path)));
  const Verification v = f.verified();
  CHECK(v.verdict() == Held::kValid);
  CHECK(v.rehearsed);
  CHECK(v.differences.empty());
}

TEST_CASE("the date is stated, and part of no result") {
  const Fixture f;
  QualifyOptions later = f.options();
  later.date = "2027-01-01";
  Json a = f.record(), b = qualify(later, source_catalog());
  CHECK(a["predicate"]["digest"] != b["predicate"]["digest"]);
  for (Json* record : {&a, &b}) {
    (*record)["predicate"].erase("date");
    (*record)["predicate"].erase("digest");
  }
  CHECK(a == b);
}

TEST_CASE("an edited figure is told by the seal, and after a forged digest by the rehearsal") {
  const Fixture f;
  Json record = f.record();
  record["predicate"]["figures"]["objectives"][0]["achieved_s"]["mean"] = 0.001;
  write_record(record, f.path);
  const Verification edited = f.verified();
  CHECK(edited.verdict() == Held::kAltered);
  REQUIRE(edited.differences.size() == 1);
  CHECK(edited.differences[0].path == "predicate.figures.objectives[chat/fast/ttft/99.0].achieved_s.mean");
  CHECK(edited.differences[0].was == "0.001");

  seal(record);
  const std::string forged = f.folder.file("forged.json");
  write_record(record, forged);
  const Verification v = verify_record(forged, {"", true, 0, {}}, source_catalog());
  CHECK(v.sealed);
  CHECK(v.verdict() == Held::kDiffers);
  CHECK(v.differences.size() == 1);
}

TEST_CASE("a forged verdict, artifact or digest of an input does not hold either") {
  const Fixture f;
  const Json sound = f.record();
  const auto verdict_with = [&](const char* pointer, const Json& value) {
    Json record = sound;
    record[Json::json_pointer(pointer)] = value;
    seal(record);
    const std::string path = f.folder.file("forged-" + sha256(pointer).substr(0, 8) + ".json");
    write_record(record, path);
    return verify_record(path, {"", true, 0, {}}, source_catalog()).verdict();
  };
  CHECK(verdict_with("/predicate/date", "2020-01-01") == Held::kValid);  // whose date it is only a signature can tell
  CHECK(verdict_with("/predicate/result", "failed") == Held::kDiffers);
  CHECK(verdict_with("/predicate/bindings/0/artifact/name", "other") == Held::kDiffers);
  CHECK(verdict_with("/subject/0/digest/sha256", sha256("other")) == Held::kDiffers);
  CHECK(verdict_with("/predicate/inputs/0/sha256", sha256("other")) == Held::kStale);
}

TEST_CASE("a changed artifact, suite, score, price or engine makes a record stale, and it says which and from what") {
  const Fixture f;
  f.written();
  const auto check = [&](const std::string& from, const std::string& to, const std::string& line) {
    const Verification v = f.after(from, to);
    INFO(line);
    for (const Change& change : v.stale) INFO(stale_text(change));
    CHECK(v.verdict() == Held::kStale);
    CHECK_FALSE(v.rehearsed);
    CHECK(tells(v.stale, line));
  };
  check("chat-fp8-r3", "chat-fp8-r4",
        "artifact: scenario.models[chat].implementations[a].artifact: chat-fp8-r3 -> chat-fp8-r4");
  check("suite: eval-1", "suite: eval-2", "evaluation suite: scenario.models[chat].evaluation.suite: eval-1 -> eval-2");
  check("score: 0.85", "score: 0.86",
        "evaluation score: scenario.models[chat].implementations[a].evaluation.score: 0.85 -> 0.86");
  check("$2.10/h", "$2.20/h", "price: scenario.pools[a].price.reserved: $2.1/h per device -> $2.2/h per device");
  check("version: \"0.19\"", "version: mainline-2026-08-17",
        "engine version: scenario.pools[a].engine.version: 0.19 -> mainline-2026-08-17");
  check("rate: 5/s", "rate: 6/s", "scenario.workload[chat/fast].synth.arrivals.rate: 5/s -> 6/s");
}

TEST_CASE("an artifact with a digest is a subject, and a driver that the catalog states makes a record stale") {
  const std::string digest = sha256("weights");
  const Fixture f;
  const std::string stated =
      replaced(evaluated(), "artifact: chat-fp8-r3",
               "artifact: {name: chat-fp8-r3, digest: \"sha256:" + digest + "\"}, software: {driver: \"570.1\"}");
  write_file(f.scenario, stated);
  const Json record = f.written();
  CHECK(record["subject"][0]["name"] == "chat-fp8-r3");
  CHECK(record["subject"][0]["digest"]["sha256"] == digest);
  CHECK(record["predicate"]["bindings"][0]["software"]["driver"] == "570.1");
  const std::string other = f.folder.file("other.yaml");
  write_file(other, replaced(stated, "570.1", "580.2"));
  CHECK(tells(f.verified(other).stale,
              "driver: scenario.models[chat].implementations[a].software.driver: 570.1 -> 580.2"));
}

TEST_CASE("a comment in the scenario changes its file and no key, which is told so") {
  const Fixture f;
  f.written();
  const Verification v = f.after("version: 1\n", "version: 1  # new\n");
  CHECK(v.verdict() == Held::kStale);
  REQUIRE(v.stale.size() == 1);
  CHECK(v.stale[0].path == "inputs[scenario/file].sha256");
  CHECK_THAT(verification_text(v), Catch::Contains("every key of the scenario means what it did"));
}

TEST_CASE("the scenario is found beside its record when both have moved, and else asked for") {
  const Fixture f;
  f.written();
  const TemporaryFolder elsewhere;
  write_file(elsewhere.file("r.json"), read_file(f.path));
  write_file(elsewhere.file("s.yaml"), read_file(f.scenario));
  ::unlink(f.scenario.c_str());
  CHECK(verify_record(elsewhere.file("r.json"), {"", true, 0, {}}, source_catalog()).verdict() == Held::kValid);
  ::unlink(elsewhere.file("s.yaml").c_str());
  CHECK_THROWS_WITH(verify_record(elsewhere.file("r.json"), {"", true, 0, {}}, source_catalog()),
                    Catch::Contains("name it with --scenario"));
}

TEST_CASE("a qualification that fails is recorded with what failed") {
  const Fixture f;
  write_file(f.scenario, replaced(evaluated(), "samples: 2000", "samples: 20"));  // too few to be sure
  QualifyOptions options = f.options();
  options.limits = {{Figure::kGoodput, 1.0}, {Figure::kE2eP99, 1e-3}};
  const Json p = qualify(options, source_catalog())["predicate"];
  CHECK(p["result"] == "failed");
  CHECK(p["failed"] == Json({"evaluation chat/a", "objective chat/fast ttft.p99, seconds", "limit goodput",
                             "limit e2e.p99"}));  // its gate lets no request through
  CHECK(p["rehearsal"]["limits"]["e2e.p99"] == 1e-3);
}

TEST_CASE("a promised availability is an objective that must surely be met") {
  const auto check_of = [](const std::string& timeout) {
    const Fixture f;
    write_file(f.scenario, replaced(evaluated(), "{ttft: {p99: 2 s}}", "{availability: 99 %}" + timeout));
    const Json record = qualify(f.options(), source_catalog());
    for (const Json& check : record["predicate"]["checks"]) {
      if (check["check"] == "objective chat/fast availability") return check["verdict"].get<std::string>();
    }
    return std::string("none");
  };
  CHECK(check_of("") == "passed");
  CHECK(check_of(", timeout: 1 ms") == "failed");
}

TEST_CASE("one replication has no interval and so passes no objective") {
  const Fixture f;
  QualifyOptions options = f.options();
  options.replications = 1;
  CHECK(qualify(options, source_catalog())["predicate"]["failed"] == Json({"objective chat/fast ttft.p99, seconds"}));
}

TEST_CASE("within: the whole interval must be within the limit, and no run without end") {
  const auto verdict = [](const std::vector<std::optional<double>>& values, double limit, bool at_least = false) {
    return within("x", mean_of(values, 0.95), limit, at_least).result;
  };
  CHECK(verdict({1.0, 1.0, 1.0}, 1.0) == Check::Result::kPassed);
  CHECK(verdict({1.0, 2.0}, 2.0) == Check::Result::kFailed);  // 1.5 +- 6.35
  CHECK(verdict({1.0, 2.0}, 8.0) == Check::Result::kPassed);
  CHECK(verdict({0.99, 0.99}, 0.98, true) == Check::Result::kPassed);
  CHECK(verdict({0.99, 0.97}, 0.98, true) == Check::Result::kFailed);
  CHECK(verdict({1.0, std::numeric_limits<double>::infinity(), 1.0}, 9.0) == Check::Result::kFailed);
  CHECK(verdict({std::nullopt, std::nullopt}, 9.0) == Check::Result::kWarned);
}

TEST_CASE("a move is recorded with its comparison, its policy and the way back") {
  const TemporaryFolder folder;
  const std::string place = folder.file("move.json");
  const std::vector<std::string> command = {
      "qualify", "scenarios/examples/move.yaml", "-o", place, "--date", "2026-11-30", "--replications", "2"};
  const Ran ran = run_program(command);
  CHECK(ran.err == "");
  const Json p = read_record(place)["predicate"];
  CHECK(ran.status == (p["result"] == "passed" ? 0 : 1));
  CHECK(p["rehearsal"]["kind"] == "move");
  CHECK(p["comparison"]["moves"][0]["completed"] == 2);
  CHECK(p["policy"]["moves"][0]["to"] == "mi300");
  CHECK(p["policy"]["reverse_plan"].size() == 2);
  CHECK_THAT(ran.out, Catch::Contains("Way back  from 50 % to 10 %"));
  const Ran verified = run_program({"qualify", "verify", place, "--json", "--threads", "2"});
  CHECK(verified.status == 0);
  CHECK(Json::parse(verified.out)["verdict"] == "valid");
  CHECK(run_program({"qualify", "history", folder.path().string(), "--json"}).status == 0);
}

namespace {

void collect_keys(const Json& value, std::vector<std::string>& keys) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) keys.push_back(key);
  }
  for (const auto& member : value) {
    if (member.is_structured()) collect_keys(member, keys);
  }
}

}  // namespace

TEST_CASE("scenarios/qualification.md names every key of a record") {
  const std::string description = read_file(POOLCAST_SOURCE_DIR "/scenarios/qualification.md") +
                                  read_file(POOLCAST_SOURCE_DIR "/scenarios/comparison.md");
  const Fixture f;
  Json p = f.written()["predicate"];
  for (const char* elsewhere : {"facts", "comparison"}) p.erase(elsewhere);
  for (const char* of_scenarios : {"gateway", "pools"}) p["policy"].erase(of_scenarios);
  std::vector<std::string> keys;
  collect_keys(p, keys);
  collect_keys(verification_json(f.verified()), keys);
  collect_keys(history_json(read_history(f.folder.path().string(), "", source_catalog())), keys);
  CHECK(keys.size() > 100);
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(description.find("`" + key + "`") != std::string::npos);
  }
}

TEST_CASE("the command tells bad input apart from a record that does not hold") {
  const Fixture f;
  CHECK(run_program({"qualify"}).status == 2);
  CHECK(run_program({"qualify", f.scenario}).status == 2);
  CHECK(run_program({"qualify", f.scenario, "-o", f.path, "--date", "30.11.2026"}).status == 2);
  CHECK(run_program({"qualify", f.scenario, "-o", f.path, "--limit", "cots=1"}).err ==
        "--limit: there is no figure \"cots\"; did you mean \"cost\"?\n");
  CHECK(run_program({"qualify", f.scenario, "-o", f.folder.file("no/r.json")}).status == 2);
  CHECK(run_program({"qualify", f.scenario, "-o", f.path, "--replications", "2", "--limit", "ttft.p50=1 ns"}).status ==
        1);
  CHECK(run_program({"qualify", "verify", f.path}).status == 0);
  write_file(f.scenario, replaced(evaluated(), "$2.10/h", "$2.20/h"));
  const Ran stale = run_program({"qualify", "verify", f.path});
  CHECK(stale.status == 1);
  CHECK_THAT(stale.out, Catch::Contains("price: scenario.pools[a].price.reserved: $2.1/h per device -> $2.2/h"));
  CHECK(run_program({"qualify", "verify", f.scenario}).status == 2);
}
