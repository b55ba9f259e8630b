// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "scenarios/atomic_file.h"
#include "scenarios/compare.h"
#include "scenarios/compare_text.h"
#include "scenarios/error.h"
#include "scenarios/load.h"
#include "tools/commands.h"
#include "tools/figure_options.h"
#include "tools/progress_line.h"

/// `poolcast compare BASE CANDIDATE`: the same random worlds with both, and whether to go.
namespace poolcast {
namespace {

struct Arguments {
  std::string base, candidate;
  std::vector<std::string> set, set_base, set_candidate, margins;
  std::string confidence = "95 %";
  std::int64_t replications = 10;
  int threads = 0;
  std::string out;
  std::string format = "text";
};

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

struct Pair {
  Scenario base, candidate;
};

/// One file is compared with itself without its moves, unless options of one side make the difference.
Pair load(const Arguments& a) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  const bool one_file = a.candidate.empty();
  Pair pair{load_scenario(a.base, catalog, joined(a.set, a.set_base)),
            load_scenario(one_file ? a.base : a.candidate, catalog, joined(a.set, a.set_candidate))};
  if (!one_file) return pair;
  if (!pair.candidate.moves.empty()) {
    pair.base.moves.clear();
  } else if (a.set_base.empty() && a.set_candidate.empty()) {
    throw ConfigError(a.base +
                      ": states no move, so there is nothing to compare it with: name a CANDIDATE, or change "
                      "something with --set-candidate");
  }
  return pair;
}

CompareOptions options_of(const Arguments& a, const Scenario& candidate) {
  CompareOptions options;
  options.replications = a.replications;
  options.margins = margins_of(candidate);
  options.confidence = confidence_of(a.confidence);
  options.threads = a.threads;
  for (const std::string& setting : a.margins) set_margin(options.margins, setting);
  return options;
}

int run(const Arguments& a) {
  const Pair pair = load(a);
  CompareOptions options = options_of(a, pair.candidate);
  std::optional<AtomicFile> file;
  if (!a.out.empty()) {
    make_folder(a.out);
    file.emplace((std::filesystem::path(a.out) / "compare.json").string());
  }
  const Comparison comparison = [&] {
    RunsLine line;
    options.progress = [&](std::int64_t done, std::int64_t all) { line.show(done, all); };
    return compare(pair.base, pair.candidate, options);
  }();
  const std::string json = comparison_json(comparison);
  if (file) file->write(json);
  print(a.format == "json" ? json : comparison_text(comparison));
  return comparison.verdict == Verdict::kGo ? 0 : 1;
}

void add_overrides(CLI::App& command, const char* option, std::vector<std::string>& settings, const char* what) {
  command.add_option(option, settings, what)->type_name("path.to.key=value")->allow_extra_args(false);
}

}  // namespace

void add_compare(CLI::App& app, int& status) {
  CLI::App* const command =
      app.add_subcommand("compare", "Run two scenarios, or one with and without its move, on the same random worlds");
  const auto a = std::make_shared<Arguments>();
  command->add_option("BASE", a->base, "the scenario that is in use, or the one with a move")->required();
  command->add_option("CANDIDATE", a->candidate, "the scenario in question; without it BASE must state a move");
  command->add_option("--replications", a->replications, "runs of each")
      ->type_name("K")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->capture_default_str();
  command->add_option("--confidence", a->confidence, "of each interval")->type_name("SHARE")->capture_default_str();
  command
      ->add_option("--margin", a->margins,
                   "how much worse a figure may be, such as ttft.p99=2%; goodput and error_rate in points; none "
                   "leaves it out; can be repeated")
      ->type_name("FIGURE=SHARE")
      ->allow_extra_args(false);
  add_overrides(*command, "--set", a->set, "change a key of both; can be repeated");
  add_overrides(*command, "--set-base", a->set_base, "change a key of the base");
  add_overrides(*command, "--set-candidate", a->set_candidate, "change a key of the candidate");
  command->add_option("--threads", a->threads, "runs side by side; 0: as many as the machine has")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_option("--out", a->out, "folder for compare.json (made when missing)")->type_name("DIR");
  command->add_option("--format", a->format, "what stdout gets")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->footer(
      "Exit status: 0 go; 1 no-go, not enough evidence or no difference; 2 bad input.\n"
      "Example:\n"
      "  poolcast compare scenarios/examples/move.yaml --replications 5");
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace poolcast
