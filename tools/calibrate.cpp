// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "calibration/calibrate.h"
#include "calibration/runner_client.h"
#include "models/error.h"
#include "scenarios/error.h"
#include "scenarios/human.h"
#include "scenarios/text_table.h"
#include "tools/calibration_text.h"
#include "tools/commands.h"
#include "tools/model_options.h"
#include "tools/own_runner.h"

/// `poolcast calibrate`: measures a model's operations on an attached device.
namespace poolcast {
namespace {

struct Options {
  RunnerChoice runner;
  ModelChoice model;
  std::string implementation = "auto";
  std::string budget = "10 min";
  std::string output;
  calibration::PlanLimits limits;
  double memory_gb = 4;
  double seconds = 1;
  double save_every = 10;
  int rounds = 1;
};

/// A line on a terminal; one every half minute anywhere else.
void show(const calibration::CalibrateProgress& p) {
  constexpr double kBetweenLines_s = 30;
  static const bool kTerminal = ::isatty(STDERR_FILENO) == 1;
  static double next_s = kBetweenLines_s;
  if (!kTerminal && p.spent_s < next_s) return;
  next_s = p.spent_s + kBetweenLines_s;
  fmt::print(stderr, "{}{}/{} shapes, {} refined, {} failed, {}: {}{}", kTerminal ? "\r" : "", p.done, p.planned,
             p.refined, p.failed, human_span(p.spent_s), p.now, kTerminal ? "\x1b[K" : "\n");
  std::fflush(stderr);
}

std::string report_text(const calibration::CalibrateReport& r, const std::string& output) {
  std::string text =
      fmt::format("{}: {} shapes measured now, {} kept from before, {} in gaps; {} failed, {} noisy, {} left\n", output,
                  r.measured, r.kept, r.refined, r.failed, r.noisy, r.left);
  if (r.kept_of_others > 0)
    text += fmt::format("{} of those kept were measured with another build of the kernels\n", r.kept_of_others);
  if (r.too_large > 0) text += fmt::format("{} need more memory than --memory-gb gives\n", r.too_large);
  if (r.again > 0) text += fmt::format("{} measured once more in later rounds\n", r.again);
  if (!r.left_out.empty())
    text += fmt::format("not measured, having no kernel there: {}\n", fmt::join(r.left_out, ", "));
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (const auto& [reason, count] : r.failures) reasons.emplace_back(count, reason);
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kMostReasons = 3;
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i)
    text += wrapped(fmt::format("  {} failed: ", reasons[i].first), reasons[i].second);
  if (r.given_up) return text + "the runner failed too often in a row and was given up; the same command goes on\n";
  if (!r.complete) text += "the budget ended before the plan did; the same command goes on\n";
  return text;
}

/// Exit status 1 when the runner was given up.
int calibrate_command(const Options& options) {
  calibration::CalibrateOptions c;
  c.identity = identity_of(options.model);
  c.kernel = options.implementation;
  c.limits = options.limits;
  c.limits.bytes = options.memory_gb * 1e9;
  c.stop.budget_s = options.seconds;
  c.budget_s = duration_option("--budget", options.budget);
  c.rounds = options.rounds;
  c.output = options.output;
  c.save_every_s = options.save_every;
  calibration::RunnerClient runner(runner_command(options.runner));
  try {
    const calibration::CalibrateReport report = calibration::calibrate(c, runner, show);
    if (::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\x1b[K");
    print(report_text(report, options.output));
    print(curve_text(options.output));
    return report.given_up ? 1 : 0;
  } catch (const ModelError& error) {
    throw ConfigError(fmt::format("calibrate: {}", error.what()));
  }
}

}  // namespace

void add_calibrate(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("calibrate", "Measure a model's operations on an attached device");
  const auto options = std::make_shared<Options>();
  add_runner_options(*command, options->runner);
  add_model_options(*command, options->model);
  command->add_option("--implementation", options->implementation, "auto (the most native kernel), or one by name")
      ->capture_default_str();
  command->add_option("--dtype", options->limits.dtype, "run all kernels in this format, for runners without bf16")
      ->check(CLI::IsMember({"bf16", "fp32"}));
  command->add_option("-o,--output", options->output, "the calibration; one that is there is continued")
      ->type_name("FILE.h5")
      ->required();
  command->add_option("--budget", options->budget, "time for all shapes, after the device's peaks")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "measure every shape so often, all others in between")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--shape-seconds", options->seconds, "most time for one shape")
      ->check(CLI::Range(0.01, 1e4))
      ->capture_default_str();
  command->add_option("--max-tokens", options->limits.tokens, "tokens of a step")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  command->add_option("--max-requests", options->limits.requests, "requests that decode in a step")
      ->check(CLI::Range(2, 1 << 16))
      ->capture_default_str();
  command->add_option("--max-context", options->limits.context, "tokens of one request")
      ->check(CLI::Range(64, 1 << 24))
      ->capture_default_str();
  command->add_option("--memory-gb", options->memory_gb, "shapes that need more are left out")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  command->add_option("--save-every", options->save_every, "seconds between savings")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->footer(
      "Example:\n  poolcast calibrate --device cpu --model smollm2-135m --layout tp=1 --budget 5min -o cpu.h5");
  command->callback([options, &status] { status = calibrate_command(*options); });
}

}  // namespace poolcast
