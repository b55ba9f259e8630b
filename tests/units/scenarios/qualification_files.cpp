// SPDX-License-Identifier: Apache-2.0
// Qualification records as files: none is lost, none replaced, and what is none is told.
#include <csignal>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "scenarios/atomic_file.h"
#include "scenarios/error.h"
#include "scenarios/json_text.h"
#include "scenarios/qualification_history.h"
#include "tests/units/scenarios/qualification_fixture.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

std::string fault_of_record(const std::string& path) {
  try {
    read_record(path);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

/// How many of `count` processes, all writing at once, say that the record at `place` is theirs.
int winners(const std::vector<Json>& records, const std::string& place) {
  int gate[2];
  REQUIRE(::pipe(gate) == 0);
  std::vector<pid_t> children;
  for (const Json& record : records) {
    const pid_t child = ::fork();
    if (child == 0) {
      char byte = 0;
      ::close(gate[1]);
      if (::read(gate[0], &byte, 1) < 0) ::_exit(3);  // until all are ready
      try {
        write_record(record, place);
      } catch (const FileError&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  int won = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) <= 1);
    won += WEXITSTATUS(status) == 0;
  }
  return won;
}

}  // namespace

TEST_CASE("a record is never replaced by another, and writing the same one again does nothing") {
  const Fixture f;
  const Json first = f.written();
  CHECK(write_record(first, f.path) == f.path);
  Json second = first;
  second["predicate"]["date"] = "2026-12-24";
  seal(second);
  CHECK_THROWS_WITH(write_record(second, f.path), Catch::Contains("records are never replaced"));
  CHECK(read_file(f.path) == json_text(first));
}

TEST_CASE("of several writers of one file one wins whole, and in a folder none is lost") {
  const Fixture f;
  Json record = f.record();
  std::vector<Json> records;
  for (int i = 0; i < 8; ++i) {
    record["predicate"]["date"] = "2026-12-0" + std::to_string(i + 1);
    seal(record);
    records.push_back(record);
  }
  const TemporaryFolder one, many;
  CHECK(winners(records, one.file("r.json")) == 1);
  CHECK(one.names() == std::vector<std::string>{"r.json"});
  CHECK(is_sealed(read_record(one.file("r.json"))));
  CHECK(winners(records, many.path().string()) == 8);
  CHECK(many.names().size() == 8);
  CHECK(read_history(many.path().string(), "", source_catalog()).rows.size() == 16);  // two pools each
}

TEST_CASE("a write that was interrupted leaves no record and does not disturb the history") {
  const Fixture f;
  const Json record = f.record();
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder.file("r.json"));
    write_file(file.temporary_path(), json_text(record).substr(0, 500));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(read_history(folder.path().string(), "", source_catalog()).rows.empty());
  write_record(record, folder.file("r.json"));
  CHECK(folder.names() == std::vector<std::string>{"r.json"});
}

TEST_CASE("what is no whole record of a known schema is bad input that says what is wrong") {
  const Fixture f;
  const Json sound = f.record();
  const std::string text = json_text(sound), bad = f.folder.file("bad.json");
  const auto fault = [&](const std::string& content) {
    write_file(bad, content);
    return fault_of_record(bad).substr(bad.size() + 2);
  };
  write_file(bad, text);
  CHECK(fault_of_record(bad) == "none");
  CHECK(fault(text.substr(0, text.size() / 2)) == "is no JSON, or was cut short");
  CHECK(fault("") == "is no JSON, or was cut short");
  CHECK(fault("{}") == "is no in-toto statement: its _type is not https://in-toto.io/Statement/v1");
  CHECK(fault(std::string(100'000, '[')) == "is nested too deeply to be a record");
  CHECK(fault(replaced(text, "\"date\":", "\"date\": \"2020-01-01\", \"date\":")) ==
        "the key \"date\" stands twice in one object");
  Json other = sound;
  other["predicateType"] = "https://slsa.dev/provenance/v1";
  CHECK_THAT(fault(json_text(other)), Catch::Contains("and this one is \"https://slsa.dev/provenance/v1\""));
  other = sound;
  other["predicate"]["schema"] = 2;
  CHECK(fault(json_text(other)) == "this program reads schema 1 of qualification records, and this one states \"2\"");
  for (const char* key : {"date", "facts", "checks", "digest"}) {
    other = sound;
    other["predicate"].erase(key);
    CHECK(fault(json_text(other)) == std::string("is no whole record: /predicate/") + key + " is missing");
  }
  other = sound;
  other["predicate"]["inputs"][0] = "s.yaml";
  write_file(bad, json_text(other));
  CHECK_THROWS_WITH(verify_record(bad, {"", true, 0, {}}, source_catalog()), Catch::Contains("is no whole record"));
}

TEST_CASE("a rehearsal of endless length is refused, and history does not wait for a pipe") {
  const Fixture f;
  Json record = f.record();
  record["predicate"]["rehearsal"]["replications"] = 1'000'000'000'000;
  seal(record);
  write_file(f.path, json_text(record));
  CHECK_THROWS_WITH(verify_record(f.path, {"", true, 0, {}}, source_catalog()),
                    Catch::Contains("predicate.rehearsal.replications: must be from 1 to 100000"));
  const TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("pipe.json").c_str(), 0600) == 0);
  const History history = read_history(folder.path().string(), "", source_catalog());
  REQUIRE(history.broken.size() == 1);
  CHECK_THAT(history.broken[0].why, Catch::Contains("is no plain file"));
}

TEST_CASE("what a record says cannot pass itself off as the program's own lines") {
  const Fixture f;
  Json record = f.record();
  const std::string forged = "passed)\n" + f.path + ": valid (\x1b[2J";
  record["predicate"]["result"] = record["predicate"]["date"] = forged;
  record["predicate"]["bindings"][0]["model"] = forged;
  record["predicate"]["facts"][forged] = forged;
  const TemporaryFolder folder;
  const std::string path = folder.file("a\x1b[2J.json");
  write_file(path, json_text(record));
  const std::string verified = verification_text(verify_record(path, {f.scenario, false, 0, {}}, source_catalog()));
  CHECK_THAT(verified, Catch::Contains(": altered (passed)\\n"));
  CHECK_THAT(verified.substr(path.size()), !Catch::Contains("\x1b"));
  CHECK_THAT(history_text(read_history(folder.path().string(), f.scenario, source_catalog())),
             !Catch::Contains("\x1b"));
}

TEST_CASE("history goes by date, says what changed since the record before, and lists broken ones apart") {
  const Fixture f;
  const TemporaryFolder folder;
  const std::string place = folder.path().string() + "/";
  write_record(f.record(), place);
  write_file(f.scenario, replaced(evaluated(), "$2.10/h", "$1.90/h"));
  QualifyOptions later = f.options();
  later.date = "2026-12-05";
  write_record(qualify(later, source_catalog()), place);
  write_file(folder.file("cut.json"), "{\"_type\": ");

  const History history = read_history(place, f.scenario, source_catalog());
  REQUIRE(history.rows.size() == 4);
  CHECK(history.rows[0].date == "2026-11-30");
  CHECK(history.rows[0].state == "stale");
  CHECK(history.rows[0].pool == "a");
  CHECK(history.rows[0].first);
  CHECK(history.rows[2].date == "2026-12-05");
  CHECK(history.rows[2].state == "valid");
  REQUIRE(history.rows[2].since.size() == 1);
  CHECK(history.rows[2].since[0].is == "$1.9/h per device");
  CHECK(history.rows[3].since.empty());  // the price of the other pool
  REQUIRE(history.broken.size() == 1);
  CHECK(history.broken[0].file == "cut.json");
  CHECK(read_history(place, "", source_catalog()).rows[0].state == "sealed");
}
