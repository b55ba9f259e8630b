// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "calibration/runner_server.h"
#include "calibration/step_log.h"
#include "calibration/validate.h"
#include "models/kernel_tables.h"
#include "scenarios/run_scenario.h"
#include "scenarios/text_table.h"
#include "tools/calibration_text.h"
#include "tools/commands.h"
#include "tools/live_run.h"
#include "tools/progress_line.h"

/// `poolcast validate FILE.h5`: how far the curve is off where it was not fitted.
namespace poolcast {
namespace {

struct Options {
  std::string file;
  std::string steps;
  LiveRunOptions live;
  std::string clock = "device";
};

/// Runs the scenario by the curve and on this machine. Its steps judge the curve too.
std::string live_text(const Options& options, const CurveIdentity& identity, const std::optional<KernelTables>& curve,
                      std::vector<calibration::StepRecord>& steps) {
  LiveRunOptions live = options.live;
  live.clock = options.clock == "wall" ? LiveClock::kWall : LiveClock::kDevice;
  RunOptions run;
  run.scenario = live.scenario;
  run.overrides = live.overrides;
  run.overrides.push_back("pools.curves=" + options.file);
  const Summary predicted = run_scenario(run);
  const LiveRun measured = [&] {
    ProgressLine line;
    return run_live(live, [&](const Progress& progress) { line.show(progress); });
  }();
  for (const LiveStep& step : measured.steps) steps.push_back(step.record(live.clock));
  std::string text;
  const std::string here = calibration::cpu_device_name(live.threads);
  if (identity.device != here)
    text = wrapped("WARNING  ", fmt::format("the curve is of {}, and this is {}", identity.device, here)) + "\n";
  text += live_comparison(predicted, measured.measured) + "\n";
  return text + terms_text(term_errors(*make_kernel_table_curve(curve.value()), measured.steps, live.clock));
}

void validate_command(const Options& options) {
  calibration::Calibration c = calibration::load(options.file);
  std::string live;
  if (!options.steps.empty()) c.steps = calibration::read_step_log(options.steps);
  if (!options.live.scenario.empty()) {
    c.steps.clear();
    live = live_text(options, c.head.identity, c.head.curve, c.steps);
  }
  if (!options.steps.empty() || !live.empty()) {
    for (calibration::StepRecord& step : c.steps) step.held_out = true;  // none of them was fitted
  }
  const auto errors = calibration::held_out_errors(c, calibration::fit_parts(c));
  print(identity_text(c) + "\n" + live + errors_text(errors));
  if (!c.head.curve) print(fmt::format("no curve yet: {}\n", c.head.why_no_curve));
}

}  // namespace

void add_validate(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("validate", "Error of a calibration's curve per term and regime");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "a calibration (HDF5)")->required();
  command->add_option("--steps", options->steps, "measured steps to compare with (calibration/file.md)")
      ->type_name("FILE.jsonl");
  command
      ->add_option("--live", options->live.scenario, "run this scenario by the curve and on this machine, and compare")
      ->type_name("SCENARIO");
  command->add_option("--clock", options->clock, "of --live: device or wall")
      ->check(CLI::IsMember({"device", "wall"}))
      ->capture_default_str();
  command->add_option("--implementation", options->live.implementation, "of the kernels of --live")
      ->check(CLI::IsMember({"auto", "portable", "avx512", "amx"}))
      ->capture_default_str();
  command->add_option("--threads", options->live.threads, "of each step of --live")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--set", options->live.overrides, "change a key of that scenario; can be repeated")
      ->type_name("path.to.key=value")
      ->allow_extra_args(false);
  command->footer(
      "Examples:\n  poolcast validate cpu.h5\n  poolcast validate cpu.h5 --live scenarios/examples/live_cpu.yaml");
  command->callback([options] { validate_command(*options); });
}

}  // namespace poolcast
