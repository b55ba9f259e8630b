// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "scenarios/error.h"
#include "scenarios/explain.h"
#include "scenarios/explain_text.h"
#include "tools/commands.h"
#include "tools/progress_line.h"

/// `poolcast explain SCENARIO --request N`: what became of one request, and why; `explain --diff A B`: the first
/// request that went elsewhere.
namespace poolcast {
namespace {

struct Arguments {
  ExplainOptions run;
  std::string other;
  std::int64_t request = -1;
  std::int64_t source = 0;
  bool diff = false;
  bool json = false;
};

void explain_one(const Arguments& a) {
  if (a.request < 0) throw ConfigError("poolcast explain: which request? --request N, its row in results.h5");
  if (!a.other.empty()) throw ConfigError("poolcast explain: two scenarios need --diff");
  ExplainOptions options = a.run;
  options.row = static_cast<std::uint64_t>(a.request);
  options.source = static_cast<std::uint32_t>(a.source);
  const Explanation e = [&] {
    ProgressLine line;
    return explain(options, [&](const Progress& progress) { line.show(progress); });
  }();
  print(a.json ? explanation_json(e) : explanation_text(e));
}

void explain_two(const Arguments& a) {
  if (a.other.empty()) throw ConfigError("poolcast explain: --diff compares two scenarios: explain --diff A B");
  if (a.request >= 0) throw ConfigError("poolcast explain: --diff finds the request by itself; leave --request out");
  ExplainOptions candidate = a.run;
  candidate.scenario = a.other;
  const ExplainedDifference d = [&] {
    ProgressLine line;
    return explain_difference(a.run, candidate, [&](const Progress& progress) { line.show(progress); });
  }();
  print(a.json ? difference_json(d) : difference_text(d));
}

}  // namespace

void add_explain(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("explain", "What became of one request of a run, and why");
  const auto a = std::make_shared<Arguments>();
  command->add_option("SCENARIO", a->run.scenario, "the scenario file (YAML)")->required();
  command->add_option("OTHER", a->other, "with --diff: the scenario to compare it with");
  command->add_option("--request", a->request, "the request: its `row` in results.h5, from 0")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, INT64_MAX));
  command->add_option("--source", a->source, "and its `source`: the entry of the workload, from 0")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{UINT32_MAX - 1}));
  command->add_option("--set", a->run.overrides, "change a key of the scenario (of both); can be repeated")
      ->type_name("path.to.key=value")
      ->allow_extra_args(false);
  command->add_flag("--diff", a->diff, "the first request that two scenarios sent to different places, in both");
  command->add_flag("--json", a->json, "everything, as JSON");
  command->footer(
      "Example:\n"
      "  poolcast explain scenarios/examples/llmd_routing.yaml --request 1000");
  command->callback([a] { a->diff ? explain_two(*a) : explain_one(*a); });
}

}  // namespace poolcast
