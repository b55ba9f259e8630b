// SPDX-License-Identifier: Apache-2.0
#include "tools/own_runner.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace poolcast {

void add_runner_options(CLI::App& command, RunnerChoice& choice) {
  command.add_option("--device", choice.device, "what poolcast's own kernels run on")
      ->check(CLI::IsMember({"cpu", "opencl", "cuda", "hip"}))
      ->capture_default_str();
  command.add_option("--threads", choice.threads, "CPU threads, each pinned to a core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--runner", choice.command, "another runner instead, as a shell line (calibration/protocol.md)")
      ->type_name("COMMAND");
}

std::vector<std::string> runner_command(const RunnerChoice& choice) {
  if (!choice.command.empty()) return {"/bin/sh", "-c", choice.command};
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return {self, "runner", "--device", choice.device, "--threads", std::to_string(choice.threads)};
}

}  // namespace poolcast
