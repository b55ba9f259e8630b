// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "calibration/runner_client.h"
#include "kernels/registry.h"
#include "scenarios/error.h"
#include "scenarios/human.h"
#include "scenarios/text_table.h"
#include "tools/commands.h"
#include "tools/own_runner.h"

/// `poolcast devices`: what is attached, and its peaks as they were measured just now.
namespace poolcast {
namespace {

std::string facts(const std::string& name, const calibration::Description& d) {
  std::string text = fmt::format("{}: {}\n", name, d.device);
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += wrapped(fmt::format("  {:9} ", what), value);
  };
  line("driver", d.driver);
  line("runtime", d.runtime);
  line("compiler", d.compiler.empty() || d.flags.empty() ? d.compiler : d.compiler + ", " + d.flags);
  line("clock", d.clock_state);
  for (const auto& [type, rate] : d.peak_flops)
    line("peak", fmt::format("{} GFLOP/s {}, measured", human_number(rate * 1e-9), type));
  if (d.bandwidth > 0) line("memory", fmt::format("{} GB/s, measured", human_number(d.bandwidth * 1e-9)));
  std::map<std::string, std::string> operations;
  const auto is_absent = [&](const std::string& kernel) {
    return std::any_of(d.absent.begin(), d.absent.end(), [&](const auto& a) { return a.first == kernel; });
  };
  for (const calibration::OfferedKernel& k : d.kernels) {
    if (is_absent(k.kernel)) continue;
    std::string& list = operations[k.operation];
    list += (list.empty() ? "" : ", ") + k.kernel;
  }
  text += "  kernels\n";
  for (const auto& [operation, list] : operations) text += wrapped(fmt::format("    {:18} ", operation), list);
  for (const auto& [implementation, reason] : d.absent) line("absent", implementation + ": " + reason);
  return text;
}

bool is_compiled(std::string_view device) {
  const auto kernels = kernels::all_kernels();
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const kernels::Kernel& k) { return kernels::name(k.device) == device; });
}

std::string devices(RunnerChoice choice) {
  const auto described = [](const std::string& name, const RunnerChoice& of) {
    try {
      calibration::RunnerClient runner(runner_command(of));
      return facts(name, runner.describe());
    } catch (const ConfigError& error) {
      return fmt::format("{}: {}\n", name, error.what());
    }
  };
  if (!choice.command.empty()) {
    calibration::RunnerClient runner(runner_command(choice));
    return facts("runner", runner.describe());
  }
  std::string text;
  for (const char* device : {"cpu", "opencl", "cuda", "hip"}) {
    if (!is_compiled(device)) continue;
    choice.device = device;
    text += (text.empty() ? "" : "\n") + described(device, choice);
  }
  return text;
}

}  // namespace

void add_devices(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("devices", "Attached devices with their measured peaks, and their kernels");
  const auto choice = std::make_shared<RunnerChoice>();
  command->add_option("--threads", choice->threads, "CPU threads, each pinned to a core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--runner", choice->command, "only what this runner has, a shell line")->type_name("COMMAND");
  command->footer("Example:\n  poolcast devices --threads 2");
  command->callback([choice] { print(devices(*choice)); });
}

}  // namespace poolcast
