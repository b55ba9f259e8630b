// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"

using namespace poolcast::testing;

namespace {

/// The blocks of code of that language in a Markdown text.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  const std::string begin = "```" + language + "\n";
  std::vector<std::string> found;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    const std::size_t end = text.find("```\n", at);
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

/// Every key of an object at any depth.
void collect_keys(const nlohmann::json& value, std::set<std::string>& keys) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) keys.insert(key);
  }
  for (const auto& member : value) {
    if (member.is_structured()) collect_keys(member, keys);
  }
}

const std::string kScenario = POOLCAST_SOURCE_DIR "/scenarios/examples/quickstart.yaml";

}  // namespace

TEST_CASE("README shows the example scenario as it is, and its exact output (tools/refresh-golden)") {
  const std::string readme = read_file(POOLCAST_SOURCE_DIR "/README.md");
  REQUIRE(blocks(readme, "yaml").size() == 1);
  CHECK(blocks(readme, "yaml").front() == read_file(kScenario));
  REQUIRE(blocks(readme, "text").size() == 1);
  const Ran ran = run_program({"run", kScenario});
  REQUIRE(ran.status == 0);
  CHECK(blocks(readme, "text").front() == ran.out);
}

TEST_CASE("scenarios/summary.md names every key of summary.json") {
  const std::string description = read_file(POOLCAST_SOURCE_DIR "/scenarios/summary.md");
  std::set<std::string> keys;
  for (const char* name : {"loops", "saturated", "trace_replay", "unlike_pools"}) {
    const std::string path = std::string(POOLCAST_SOURCE_DIR "/tests/golden/cases/") + name + "/expected.json";
    collect_keys(nlohmann::json::parse(read_file(path)), keys);
  }
  CHECK(keys.size() > 60);
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(description.find("`" + key + "`") != std::string::npos);
  }
}
