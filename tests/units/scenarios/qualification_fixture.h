// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "scenarios/qualification.h"
#include "scenarios/qualification_record.h"
#include "scenarios/qualification_verify.h"
#include "tests/support/scenario_text.h"
#include "tests/support/temporary_folder.h"

/// Scenarios with an evaluation, and their records.
namespace poolcast::testing {

using Json = nlohmann::ordered_json;
using Held = Verification::Verdict;

/// The sound scenario with an evaluation, as a file of its own.
inline std::string evaluated() {
  std::string text =
      changed("    implementations:", "    evaluation: {suite: eval-1, threshold: 0.8}\n    implementations:");
  text.replace(text.find("{pool: a, precision: fp8}"), 25,
               "{pool: a, precision: fp8, artifact: chat-fp8-r3, evaluation: {score: 0.85, samples: 2000}}");
  text.replace(text.find("{pool: b}"), 9, "{pool: b, status: experimental}");
  return text;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

struct Fixture {
  TemporaryFolder folder;
  std::string scenario = folder.file("s.yaml");
  std::string path = folder.file("r.json");

  Fixture() { write_file(scenario, evaluated()); }

  QualifyOptions options() const {
    QualifyOptions options;
    options.scenario = scenario;
    options.date = "2026-11-30";
    options.replications = 3;
    return options;
  }
  Json record() const { return qualify(options(), source_catalog()); }
  Json written() const {
    const Json made = record();
    write_record(made, path);
    return made;
  }
  Verification verified(const std::string& other = {}) const {
    return verify_record(path, {other, true, 0, {}}, source_catalog());
  }
  /// Against the scenario with one thing changed.
  Verification after(const std::string& from, const std::string& to) const {
    const std::string other = folder.file("other.yaml");
    write_file(other, replaced(evaluated(), from, to));
    return verified(other);
  }
};

inline bool tells(const std::vector<Change>& stale, const std::string& line) {
  return std::any_of(stale.begin(), stale.end(), [&](const Change& c) { return stale_text(c) == line; });
}

}  // namespace poolcast::testing
