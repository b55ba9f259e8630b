// SPDX-License-Identifier: Apache-2.0
// Runs recorded decisions of llm-d's endpoint-picker plugins through poolcast's and compares them.
//
//   policy_check CASES.json…     prints `ok PLUGIN: CASE` or `differs PLUGIN: CASE: what` for each case of each file,
//                                then `N passed, M failed`; exit 1 on a difference.
//
// Scores, kept endpoints and totals agree to the last bit, draws as distributions, errors as errors.
#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "tests/policies/check_case.h"

using nlohmann::json;

namespace {

struct Tally {
  int passed = 0, failed = 0;
};

void count(Tally& tally, const std::string& name, const std::string& difference) {
  if (difference.empty()) {
    fmt::print("ok {}\n", name);
    ++tally.passed;
  } else {
    fmt::print("differs {}: {}\n", name, difference);
    ++tally.failed;
  }
}

void check_file(const char* path, Tally& tally) {
  try {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot be opened");
    const json document = json::parse(file);
    for (const json& entry : document.is_array() ? document : json::array({document})) {
      count(tally, fmt::format("{}: {}", entry.value("plugin", "?"), entry.value("case", "?")),
            poolcast::policies::check_case(entry));
    }
  } catch (const std::exception& error) {
    count(tally, path, fmt::format("no recorded cases: {}", error.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: policy_check CASES.json…\n");
    return 2;
  }
  Tally tally;
  for (int i = 1; i < argc; ++i) check_file(argv[i], tally);
  fmt::print("{} passed, {} failed\n", tally.passed, tally.failed);
  return tally.failed > 0 ? 1 : 0;
}
