// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "calibration/calibrate.h"
#include "calibration/runner_client.h"
#include "kernels/problem.h"
#include "scenarios/error.h"
#include "scenarios/human.h"
#include "scenarios/text_table.h"
#include "tools/commands.h"
#include "tools/own_runner.h"

/// `poolcast kernels`: every implementation on given shapes: time, share of the measured peak, error.
namespace poolcast {
namespace {

struct Options {
  RunnerChoice runner;
  std::vector<std::int64_t> gemm;
  std::vector<std::string> problems;
  std::vector<std::string> dtypes = {"bf16"};
  std::vector<std::string> only;
  bool cold = false;
  double seconds = 2;
};

std::vector<kernels::KernelProblem> problems_of(const Options& options) {
  std::vector<std::string> texts = options.problems;
  for (const std::string& dtype : options.dtypes) {
    for (const std::int64_t n : options.gemm) texts.push_back(fmt::format("gemm {} m={} n={} k={}", dtype, n, n, n));
  }
  std::vector<kernels::KernelProblem> problems;
  for (const std::string& text : texts) {
    const kernels::ProblemOrError made = kernels::parse_problem(text);
    if (!made.problem) throw ConfigError(fmt::format("kernels: {}: {}", quote(text), made.error));
    problems.push_back(*made.problem);
  }
  if (problems.empty())
    throw ConfigError("kernels: no shape is given: --gemm 512,1024 or --problem 'gemm bf16 m=1 n=64 k=64'");
  return problems;
}

bool offers(const calibration::OfferedKernel& k, const kernels::KernelProblem& problem, const Options& options) {
  const auto has = [](const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  return k.operation == kernels::name(problem.operation) && has(k.dtypes, kernels::name(problem.dtype)) &&
         (options.only.empty() || has(options.only, k.kernel));
}

std::string share(double part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-"; }

void add_row(TextTable& table, const calibration::Point& p, const kernels::KernelProblem& problem,
             const calibration::Description& d) {
  const bool cpu = !p.cpu_s.empty();
  const calibration::SampleSummary s = calibration::summarise(cpu ? p.cpu_s : p.wall_s);
  const calibration::SampleSummary wall = calibration::summarise(p.wall_s);
  const double rate = kernels::flops(problem).value / s.median, bytes = kernels::bytes(problem).value / s.median;
  const auto peak = d.peak_flops.find(std::string(kernels::name(problem.dtype)));
  table.row({p.implementation, human_seconds(s.median), fmt::format("{:.1f} %", 100 * s.half_width() / s.median),
             human_seconds(wall.median), human_number(rate * 1e-9),
             share(rate, peak == d.peak_flops.end() ? 0 : peak->second), human_number(bytes * 1e-9),
             share(bytes, d.bandwidth), fmt::format("{:.1e}", p.error),
             std::to_string(s.count) + (p.noisy ? ", noisy" : "")});
}

void print_table(calibration::RunnerClient& runner, const kernels::KernelProblem& problem, const Options& options) {
  const calibration::Description& d = runner.describe();
  const bool cpu = std::find(d.clocks.begin(), d.clocks.end(), "cpu") != d.clocks.end();
  TextTable table(
      {cpu ? "CPU clock" : "wall clock", "time", "+-", "wall", "GFLOP/s", "MFU", "GB/s", "of mem", "error", "n"});
  std::string failures;
  bool any = false;
  for (const calibration::OfferedKernel& k : d.kernels) {
    if (!offers(k, problem, options)) continue;
    any = true;
    calibration::Point point;
    point.problem = kernels::to_text(problem);
    point.cold = options.cold;
    calibration::StopRule stop;
    stop.budget_s = options.seconds;
    calibration::measure(runner, stop, k.kernel, cpu, point);
    if (point.failure.empty())
      add_row(table, point, problem, d);
    else
      failures += wrapped("  ", k.kernel + ": " + point.failure);
  }
  if (!any) failures = "  none of its kernels does that\n";
  print(
      fmt::format("{}, {}\n{}{}\n", kernels::to_text(problem), options.cold ? "cold" : "warm", table.text(), failures));
}

void kernels_command(const Options& options) {
  const auto problems = problems_of(options);
  calibration::RunnerClient runner(runner_command(options.runner));
  const calibration::Description& d = runner.describe();
  std::vector<std::string_view> names;
  for (const calibration::OfferedKernel& k : d.kernels) {
    if (std::find(names.begin(), names.end(), k.kernel) == names.end()) names.emplace_back(k.kernel);
  }
  for (const std::string& name : options.only) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ConfigError(
          fmt::format("--only: {} has no kernel called {}{}", d.device, quote(name), suggestion(name, names)));
  }
  std::string peaks;
  for (const auto& [type, rate] : d.peak_flops)
    peaks += fmt::format(", {} GFLOP/s {}", human_number(rate * 1e-9), type);
  if (d.bandwidth > 0) peaks += fmt::format(", {} GB/s", human_number(d.bandwidth * 1e-9));
  print(fmt::format("{}{}\n\n", d.device, peaks.empty() ? "" : ", measured peaks: " + peaks.substr(2)));
  for (const kernels::KernelProblem& problem : problems) print_table(runner, problem, options);
}

}  // namespace

void add_kernels(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("kernels", "Time, share of peak and error of every kernel on given shapes");
  const auto options = std::make_shared<Options>();
  add_runner_options(*command, options->runner);
  command->add_option("--gemm", options->gemm, "square matrix products of these sizes")
      ->delimiter(',')
      ->type_name("N,…");
  command->add_option("--problem", options->problems, "a problem as text; can be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command->add_option("--dtype", options->dtypes, "formats of --gemm")->delimiter(',')->capture_default_str();
  command->add_option("--only", options->only, "only these implementations")->delimiter(',')->type_name("NAME,…");
  command->add_flag("--cold", options->cold, "with inputs that are not in the caches");
  command->add_option("--seconds", options->seconds, "most time for one row")
      ->check(CLI::Range(0.01, 1e4))
      ->capture_default_str();
  command->footer(
      "Example:\n"
      "  poolcast kernels --gemm 512,1024,2048 --dtype bf16,fp32\n"
      "  poolcast kernels --problem 'decode_attention bf16 requests=16 context=2048 heads=32 kv_heads=8 head_dim=128' "
      "--cold");
  command->callback([options] { kernels_command(*options); });
}

}  // namespace poolcast
