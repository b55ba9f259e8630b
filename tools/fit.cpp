// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "calibration/fit_steps.h"
#include "calibration/step_log.h"
#include "scenarios/human.h"
#include "tools/calibration_text.h"
#include "tools/commands.h"

/// `poolcast fit FILE.h5`: fits anew, shows every part, and stores the curve in the file.
namespace poolcast {
namespace {

struct Options {
  std::string file;
  std::string steps;
};

std::string steps_text(const KernelTables& t) {
  return fmt::format(
      "Steps: {} each, {} a request, {} a token beside the kernels; with prefill and decodes together, prefill "
      "attention {:+.1f} %, decode "
      "attention {:+.1f} %\n",
      human_seconds(t.host.value), human_seconds(t.host_per_request.value),
      human_seconds(t.once.at.empty() ? 0 : t.once.seconds.back() / static_cast<double>(t.once.at.back())),
      100 * t.attention.mixed_prefill_share, 100 * t.attention.mixed_decode_share);
}

void fit_command(const Options& options) {
  const calibration::Lock lock = calibration::Lock::of_file(options.file);
  calibration::Calibration c = calibration::load(options.file);
  if (!options.steps.empty()) {
    c.steps = calibration::read_step_log(options.steps);
    calibration::hold_out_steps(c.steps);
  }
  calibration::fit(c);
  calibration::save(c, options.file);
  std::string text = identity_text(c) + "\n" + parts_text(c, calibration::fit_parts(c)) + "\n";
  const auto fitted = std::count_if(c.steps.begin(), c.steps.end(), [](const auto& step) { return !step.held_out; });
  if (c.head.curve && fitted >= static_cast<std::ptrdiff_t>(calibration::kLeastSteps)) {
    text += steps_text(*c.head.curve) + "\n";
  } else if (c.head.curve && !c.steps.empty()) {
    text += fmt::format("Steps: {} to fit are too few to tell what a step costs beside its kernels ({} at least)\n\n",
                        fitted, calibration::kLeastSteps);
  }
  print(text + curve_text(options.file));
}

}  // namespace

void add_fit(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("fit", "Fit the curve of a calibration and show its parts and errors");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "a calibration (HDF5)")->required();
  command->add_option("--steps", options->steps, "measured steps to store and fit with (calibration/file.md)")
      ->type_name("FILE.jsonl");
  command->footer("Example:\n  poolcast fit cpu.h5");
  command->callback([options] { fit_command(*options); });
}

}  // namespace poolcast
