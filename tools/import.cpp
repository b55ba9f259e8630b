// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "calibration/import.h"
#include "scenarios/error.h"
#include "tools/calibration_text.h"
#include "tools/commands.h"
#include "tools/model_options.h"

/// `poolcast import FORMAT SOURCE -o FILE.h5`: a calibration from measurements that others published.
namespace poolcast {
namespace {

struct Options {
  std::string format, source, output;
  ModelChoice model;
};

void import_command(const Options& options) {
  const calibration::ImportFormat* chosen = nullptr;
  std::vector<std::string_view> names;
  for (const calibration::ImportFormat& format : calibration::import_formats()) {
    names.push_back(format.name);
    if (format.name == options.format) chosen = &format;
  }
  if (chosen == nullptr)
    throw ConfigError(
        fmt::format("import: unknown format {}{}", quote(options.format), suggestion(options.format, names)));
  if (options.source.empty()) throw ConfigError("import: the name of the source is empty");
  calibration::Calibration c = chosen->read(options.source, identity_of(options.model));
  calibration::fit(c);
  calibration::save(c, options.output);
  print(identity_text(c) + "\n" + errors_text(c.head.errors));
  print(c.head.curve ? fmt::format("{} has a curve\n", options.output)
                     : fmt::format("{} has no curve: {}\n", options.output, c.head.why_no_curve));
}

std::string formats_text() {
  std::string text = "Formats:\n";
  for (const calibration::ImportFormat& f : calibration::import_formats())
    text += fmt::format("  {:13} {}: {}\n", f.name, f.source, f.what);
  return text;
}

}  // namespace

void add_import(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("import", "Make a calibration from measurements that others published");
  const auto options = std::make_shared<Options>();
  command->add_option("FORMAT", options->format, "see below")->required();
  command->add_option("SOURCE", options->source, "file or folder")->required();
  command->add_option("-o,--output", options->output, "the calibration")->type_name("FILE.h5")->required();
  add_model_options(*command, options->model);
  command->footer(formats_text() +
                  "Example:\n  poolcast import opdb systems/data/h100_sxm --model llama-3.1-8b -o h100.h5");
  command->callback([options] { import_command(*options); });
}

}  // namespace poolcast
