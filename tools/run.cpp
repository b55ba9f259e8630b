// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "scenarios/run_scenario.h"
#include "scenarios/summary_json.h"
#include "scenarios/summary_text.h"
#include "tools/commands.h"
#include "tools/progress_line.h"

/// `poolcast run SCENARIO`: simulate and summarise.
namespace poolcast {
namespace {

struct Arguments {
  RunOptions run;
  std::string seed;  ///< as written; empty: that of the file
  bool no_requests = false;
  std::string format = "text";
};

/// CLI11's own conversion takes a number that is too large for its largest. Answers what is wrong, or nothing.
std::string whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? "" : fmt::format("must be a whole number from 0 to {}", INT64_MAX);
}

/// A results.h5 of an earlier run beside a new summary.json would mislead.
void warn_of_old_results(const RunOptions& run) {
  if (run.out.empty() || run.write_requests) return;
  const std::string old = (std::filesystem::path(run.out) / "results.h5").string();
  if (std::filesystem::exists(old))
    fmt::print(stderr, "{}: of an earlier run; --no-requests leaves it as it is\n", old);
}

void run(const Arguments& arguments) {
  RunOptions options = arguments.run;
  options.write_requests = !arguments.no_requests;
  if (!arguments.seed.empty()) options.overrides.push_back("seed=" + arguments.seed);
  warn_of_old_results(options);
  const Summary summary = [&] {
    ProgressLine line;
    return run_scenario(options, [&](const Progress& progress) { line.show(progress); });
  }();
  print(arguments.format == "json" ? summary_json(summary) : summary_text(summary));
}

}  // namespace

void add_run(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("run", "Simulate a scenario and summarise latency, throughput and cost");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("SCENARIO", arguments->run.scenario, "the scenario file (YAML)")->required();
  command->add_option("--out", arguments->run.out, "folder for summary.json and results.h5 (made when missing)")
      ->type_name("DIR")
      ->check([](const std::string& folder) { return folder.empty() ? "the name of the folder is empty" : ""; });
  command->add_option("--seed", arguments->seed, "seed of the random streams, instead of the file's")
      ->type_name("N")
      ->check(whole_number);
  command->add_option("--set", arguments->run.overrides, "change a key of the scenario; can be repeated")
      ->type_name("path.to.key=value")
      ->allow_extra_args(false);
  command->add_flag("--stepwise", arguments->run.stepwise, "advance one engine step at a time: same results, slower");
  command->add_option("--format", arguments->format, "what stdout gets")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--no-requests", arguments->no_requests, "write no results.h5");
  command->footer(
      "Example:\n"
      "  poolcast run scenarios/examples/quickstart.yaml --set workload.synth.arrivals.rate=16/s --out /tmp/faster");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace poolcast
