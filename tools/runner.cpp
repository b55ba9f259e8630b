// SPDX-License-Identifier: Apache-2.0
#include "calibration/runner_server.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/digest.h"
#include "tools/commands.h"
#include "tools/own_runner.h"

/// `poolcast runner`: answers the requests of a calibration with poolcast's own kernels.
namespace poolcast {

void add_runner(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("runner", "Answer the runner protocol on stdin and stdout with own kernels");
  const auto setup = std::make_shared<calibration::RunnerSetup>();
  command->add_option("--device", setup->device, "which kernels")
      ->check(CLI::IsMember({"cpu", "opencl", "cuda", "hip"}))
      ->capture_default_str();
  command->add_option("--threads", setup->threads, "CPU threads, each pinned to a core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->footer("Example:\n  echo '{\"do\": \"describe\"}' | poolcast runner");
  command->callback([setup] {
    setup->digest = sha256_of_file("/proc/self/exe");
    calibration::serve_runner(stdin, stdout, *setup);
  });
}

}  // namespace poolcast
