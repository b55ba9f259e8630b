// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "calibration/step_log.h"
#include "calibration/validate.h"
#include "tools/calibration_text.h"
#include "tools/commands.h"

/// `poolcast validate FILE.h5`: how far the curve is off where it was not fitted.
namespace poolcast {
namespace {

struct Options {
  std::string file;
  std::string steps;
};

void validate_command(const Options& options) {
  calibration::Calibration c = calibration::load(options.file);
  if (!options.steps.empty()) {
    c.steps = calibration::read_step_log(options.steps);
    for (calibration::StepRecord& step : c.steps) step.held_out = true;  // none of them was fitted
  }
  const auto errors = calibration::held_out_errors(c, calibration::fit_parts(c));
  print(identity_text(c) + "\n" + errors_text(errors));
  if (!c.head.curve) print(fmt::format("no curve yet: {}\n", c.head.why_no_curve));
}

}  // namespace

void add_validate(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("validate", "Error of a calibration's curve per term and regime");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "a calibration (HDF5)")->required();
  command->add_option("--steps", options->steps, "measured steps to compare with (calibration/README.md)")
      ->type_name("FILE.jsonl");
  command->footer("Example:\n  poolcast validate cpu.h5");
  command->callback([options] { validate_command(*options); });
}

}  // namespace poolcast
