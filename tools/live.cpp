// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "calibration/step_log.h"
#include "scenarios/atomic_file.h"
#include "scenarios/human.h"
#include "scenarios/summary_json.h"
#include "scenarios/summary_text.h"
#include "tools/commands.h"
#include "tools/live_run.h"
#include "tools/progress_line.h"

/// `poolcast live SCENARIO`: the same scheduler, its steps run on this machine.
namespace poolcast {
namespace {

struct Arguments {
  LiveRunOptions live;
  std::string clock = "device";
  std::string format = "text";
  std::string steps;
};

std::string times_of(const std::vector<LiveStep>& steps) {
  Seconds wall{0}, device{0};
  for (const LiveStep& step : steps) {
    wall = wall + step.wall;
    device = device + step.device;
  }
  return fmt::format("Live        {} steps ran here, {} of device time, {} of wall time\n", human_count(steps.size()),
                     human_span(device.value), human_span(wall.value));
}

void live(const Arguments& arguments) {
  LiveRunOptions options = arguments.live;
  options.clock = arguments.clock == "wall" ? LiveClock::kWall : LiveClock::kDevice;
  std::optional<AtomicFile> steps;  // opened before the run, so that a folder that cannot be written is told at once
  if (!arguments.steps.empty()) steps.emplace(arguments.steps);
  const LiveRun run = [&] {
    ProgressLine line;
    return run_live(options, [&](const Progress& progress) { line.show(progress); });
  }();
  if (steps) {
    std::string lines;
    for (const LiveStep& step : run.steps) lines += calibration::step_line(step.record(options.clock));
    steps->write(lines);
  }
  if (arguments.format == "json") return print(summary_json(run.measured));
  print(summary_text(run.measured) + times_of(run.steps));
}

}  // namespace

void add_live(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("live", "Replay a scenario on this machine: the same scheduler, real kernels");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("SCENARIO", arguments->live.scenario, "the scenario file (YAML): one pool of one vLLM replica")
      ->required();
  command->add_option("--clock", arguments->clock, "device: CPU time of each step; wall: what a user would wait")
      ->check(CLI::IsMember({"device", "wall"}))
      ->capture_default_str();
  command->add_option("--implementation", arguments->live.implementation, "of the kernels")
      ->check(CLI::IsMember({"auto", "portable", "avx512", "amx"}))
      ->capture_default_str();
  command->add_option("--threads", arguments->live.threads, "threads of each step")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--set", arguments->live.overrides, "change a key of the scenario; can be repeated")
      ->type_name("path.to.key=value")
      ->allow_extra_args(false);
  command->add_option("--steps", arguments->steps, "file for every step and its time, for `fit --steps`")
      ->type_name("FILE.jsonl");
  command->add_option("--format", arguments->format, "what stdout gets")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->footer("Example:\n  poolcast live scenarios/examples/live_cpu.yaml --clock device");
  command->callback([arguments] { live(*arguments); });
}

}  // namespace poolcast
