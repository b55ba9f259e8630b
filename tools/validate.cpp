// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "calibration/runner_server.h"
#include "calibration/step_log.h"
#include "calibration/validate.h"
#include "kernels/peaks.h"
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

double reading_rate(int threads) {
  kernels::Team team(threads);
  return kernels::reading_peak(kernels::measure_memory_peaks(team)).value;
}

/// Decodes read weights, so what the machine's memory gave in the meantime is part of every error.
std::string reading_text(const calibration::Calibration& c, double before, double after) {
  std::string text = fmt::format("{:.1f} GB/s before the run, {:.1f} after it", before * 1e-9, after * 1e-9);
  const auto peak = c.provenance.find("peak_bytes_per_s");
  const double then = peak == c.provenance.end() ? 0 : std::strtod(peak->second.c_str(), nullptr);
  if (then > 0) text += fmt::format("; {:.1f} when the curve was measured", then * 1e-9);
  return wrapped("Reading     ", text);
}

/// Runs the scenario by the curve and on this machine. The steps of the run, put into `c`, judge the curve too.
std::string live_text(const Options& options, calibration::Calibration& c) {
  LiveRunOptions live = options.live;
  live.clock = options.clock == "wall" ? LiveClock::kWall : LiveClock::kDevice;
  RunOptions run;
  run.scenario = live.scenario;
  run.overrides = live.overrides;
  run.overrides.push_back("pools.curves=" + options.file);
  const Summary predicted = run_scenario(run);
  const double before = reading_rate(live.threads);
  const LiveRun measured = [&] {
    ProgressLine line;
    return run_live(live, [&](const Progress& progress) { line.show(progress); });
  }();
  const double after = reading_rate(live.threads);
  c.steps.clear();
  for (const LiveStep& step : measured.steps) c.steps.push_back(step.record(live.clock));
  std::string text;
  const std::string here = calibration::cpu_device_name(live.threads);
  if (c.head.identity.device != here)
    text = wrapped("WARNING  ", fmt::format("the curve is of {}, and this is {}", c.head.identity.device, here)) + "\n";
  text += live_comparison(predicted, measured.measured) + "\n" + reading_text(c, before, after) + "\n";
  const auto curve = make_kernel_table_curve(c.head.curve.value());
  return text + terms_text(term_errors(*curve, measured.steps, live.clock));
}

void validate_command(const Options& options) {
  calibration::Calibration c = calibration::load(options.file);
  std::string live;
  if (!options.steps.empty()) c.steps = calibration::read_step_log(options.steps);
  if (!options.live.scenario.empty()) live = live_text(options, c);
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
