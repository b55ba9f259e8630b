// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <catch2/catch.hpp>

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
