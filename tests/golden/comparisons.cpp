// SPDX-License-Identifier: Apache-2.0
// Whole outputs of `compare`. Each folder in comparisons/ holds args (an argument a line), expected.txt and
// expected.json. tools/refresh-golden writes the expectations anew and shows what changes.
#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace fs = std::filesystem;
using namespace poolcast::testing;

namespace {

std::vector<fs::path> all_comparisons() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(POOLCAST_SOURCE_DIR "/tests/golden/comparisons")) {
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Ran compared(const fs::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"compare"};
  std::istringstream lines(read_file(folder / "args"));
  for (std::string line; std::getline(lines, line);) arguments.push_back(line);
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

void collect_keys(const nlohmann::json& value, std::set<std::string>& keys) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) keys.insert(key);
  }
  for (const auto& member : value) {
    if (member.is_structured()) collect_keys(member, keys);
  }
}

}  // namespace

TEST_CASE("every golden comparison gives its expected text and JSON to the byte, whatever the threads") {
  REQUIRE(all_comparisons().size() >= 2);
  for (const fs::path& folder : all_comparisons()) {
    INFO(folder.filename() << ": after reading why, tools/refresh-golden accepts the new output");
    const Ran text = compared(folder, {});
    CHECK(text.err == "");
    CHECK(text.out == read_file(folder / "expected.txt"));
    const Ran json = compared(folder, {"--format", "json", "--threads", "3"});
    CHECK(json.out == read_file(folder / "expected.json"));
    const std::string verdict = nlohmann::json::parse(json.out).at("verdict");
    CHECK(json.status == (verdict == "go" ? 0 : 1));
    CHECK(text.status == json.status);
  }
}

TEST_CASE("compare writes what it prints as JSON into the folder that it is given") {
  const TemporaryFolder folder;
  const fs::path first = all_comparisons().front();
  CHECK(compared(first, {"--out", folder.file("a/b")}).err == "");
  CHECK(read_file(folder.file("a/b/compare.json")) == read_file(first / "expected.json"));
}

TEST_CASE("scenarios/comparison.md and summary.md name every key of compare.json") {
  const std::string description = read_file(POOLCAST_SOURCE_DIR "/scenarios/comparison.md") +
                                  read_file(POOLCAST_SOURCE_DIR "/scenarios/summary.md");
  std::set<std::string> keys;
  for (const fs::path& folder : all_comparisons()) {
    collect_keys(nlohmann::json::parse(read_file(folder / "expected.json")), keys);
  }
  CHECK(keys.size() > 60);
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(description.find("`" + key + "`") != std::string::npos);
  }
}
