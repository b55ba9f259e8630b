// SPDX-License-Identifier: Apache-2.0
// Whole outputs of whole scenarios. Each folder in cases/ holds scenario.yaml, args (an argument of `run` a line),
// expected.txt and expected.json. tools/refresh-golden writes the expectations anew and shows what changes.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/program.h"

namespace fs = std::filesystem;
using namespace poolcast::testing;

namespace {

const fs::path kCases = POOLCAST_SOURCE_DIR "/tests/golden/cases";

std::vector<fs::path> all_cases() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kCases)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> arguments_of(const fs::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"run", (folder / "scenario.yaml").string()};
  std::istringstream lines(read_file(folder / "args"));
  for (std::string line; std::getline(lines, line);) arguments.push_back(line);
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string json_of(const fs::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = arguments_of(folder, more);
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ran ran = run_program(arguments);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return ran.out;
}

/// The counts of leaps and events tell how the engine got there; everything else must not.
std::string without_engine(const std::string& json) {
  std::istringstream lines(json);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t leaps = line.find("\"leaps\": ");
    if (leaps != std::string::npos) line.erase(leaps, line.find(',', leaps) - leaps);
    const std::size_t events = line.find("\"events\": ");
    if (events != std::string::npos) line.erase(events, line.find(',', events) - events);
    kept += line + "\n";
  }
  return kept;
}

}  // namespace

TEST_CASE("Every golden scenario gives its expected text and JSON to the byte") {
  REQUIRE(all_cases().size() >= 3);
  for (const fs::path& folder : all_cases()) {
    INFO(folder.filename() << ": after reading why, tools/refresh-golden accepts the new output");
    const Ran text = run_program(arguments_of(folder, {}));
    CHECK(text.err == "");
    CHECK(text.status == 0);
    CHECK(text.out == read_file(folder / "expected.txt"));
    CHECK(json_of(folder, {}) == read_file(folder / "expected.json"));
  }
}

TEST_CASE("One step at a time gives the same summary as leaps") {
  for (const fs::path& folder : all_cases()) {
    INFO(folder.filename());
    CHECK(without_engine(json_of(folder, {"--stepwise"})) == without_engine(read_file(folder / "expected.json")));
  }
}
