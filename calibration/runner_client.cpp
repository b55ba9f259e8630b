// SPDX-License-Identifier: Apache-2.0
#include "calibration/runner_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "calibration/samples.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

bool sound(const std::vector<double>& times) {
  return std::all_of(times.begin(), times.end(), [](double t) { return std::isfinite(t) && t > 0; });
}

/// What a runner says ends up in files and on terminals: a line of it is enough.
std::string line_of(const std::string& text) {
  constexpr std::size_t kLongest = 300;
  std::string line;
  for (const char c : text.substr(0, kLongest)) line.push_back(static_cast<unsigned char>(c) < ' ' ? ' ' : c);
  while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0x80U) != 0 && text.size() > kLongest)
    line.pop_back();  // no half of a character
  return line;
}

std::string words(ChildProcess::Wait wait, ChildProcess& child, double timeout_s) {
  switch (wait) {
    case ChildProcess::Wait::kTimeout:
      return fmt::format("the runner gave no answer within {} s", timeout_s);
    case ChildProcess::Wait::kTooLong:
      return "the runner printed a line without an end";
    default:
      return fmt::format("the runner ended ({})", child.ending());
  }
}

}  // namespace

RunnerClient::RunnerClient(std::vector<std::string> command, RunnerLimits limits)
    : command_(std::move(command)),
      shown_(command_.size() == 3 && command_[1] == "-c" ? command_[2] : command_.front()),
      limits_(limits) {}

Description RunnerClient::ask_description(bool peaks) {
  const auto fail = [&](const std::string& why) {
    child_.reset();
    throw ConfigError(fmt::format("runner {}: {}", quote(shown_), why));
  };
  child_ = std::make_unique<ChildProcess>(command_);
  std::string line;
  child_->send(to_line(DescribeRequest{peaks}), limits_.describe_s);
  const ChildProcess::Wait wait = child_->receive(limits_.describe_s, line);
  if (wait != ChildProcess::Wait::kLine) fail(words(wait, *child_, limits_.describe_s));
  auto answer = read_description(line);
  if (!answer) fail("its description is no answer of the protocol: " + quote(line));
  if (const auto* const error = std::get_if<RunnerError>(&*answer)) fail(line_of(error->message));
  return std::get<Description>(std::move(*answer));
}

const Description& RunnerClient::describe(bool peaks) {
  if (!description_ || (peaks && !has_peaks_)) description_ = ask_description(peaks);
  has_peaks_ = has_peaks_ || peaks;
  return *description_;
}

RunOutcome RunnerClient::broken(std::string why) {
  child_.reset();
  ++failures_in_a_row_;
  return {std::nullopt, std::move(why)};
}

RunOutcome RunnerClient::run(const RunRequest& request) {
  if (given_up())
    return {std::nullopt, fmt::format("the runner failed {} times in a row and was given up", failures_in_a_row_)};
  describe(true);
  if (child_ && child_->has_output()) child_.reset();
  if (!child_) {
    ++restarted_;
    Description again;
    try {
      again = ask_description(false);
    } catch (const ConfigError& error) {
      return broken(std::string("it did not come up again: ") + error.what());
    }
    if (again.device != description_->device)
      throw ConfigError(fmt::format("the device {} is gone: after a restart the runner has {}",
                                    quote(description_->device), quote(again.device)));
  }
  return ask(request);
}

RunOutcome RunnerClient::ask(const RunRequest& request) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::string line;
  child_->send(to_line(request), limits_.run_s);
  const ChildProcess::Wait wait = child_->receive(limits_.run_s, line);
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
  if (wait != ChildProcess::Wait::kLine) return broken(words(wait, *child_, limits_.run_s));
  auto answer = read_result(line);
  if (!answer) return broken("the runner printed something else: " + quote(line));
  failures_in_a_row_ = 0;
  if (const auto* const error = std::get_if<RunnerError>(&*answer))
    return {std::nullopt, line_of(error->code + ": " + error->message)};
  RunResult result = std::get<RunResult>(std::move(*answer));
  if (std::string doubt = why_out_of_step(request, result, elapsed_s); !doubt.empty()) {
    child_.reset();
    return {std::nullopt, std::move(doubt)};
  }
  if (std::string doubt = why_not_believed(request, result); !doubt.empty()) return {std::nullopt, std::move(doubt)};
  result.digest = line_of(result.digest);
  return {std::move(result), ""};
}

bool RunnerClient::offers(const RunRequest& request, const std::string& kernel) const {
  if (request.kernel != "auto") return kernel == request.kernel;
  const std::string_view operation = kernels::name(request.problem.operation);
  return std::any_of(description_->kernels.begin(), description_->kernels.end(),
                     [&](const OfferedKernel& k) { return k.operation == operation && k.kernel == kernel; });
}

std::string RunnerClient::why_out_of_step(const RunRequest& request, const RunResult& r, double elapsed_s) const {
  if (!offers(request, r.kernel)) return fmt::format("another kernel answered: {}", quote(r.kernel));
  const auto asked = static_cast<std::size_t>(request.repetitions);
  if (r.wall_ns.size() != asked || (!r.cpu_ns.empty() && r.cpu_ns.size() != asked))
    return fmt::format("{} samples instead of {}", r.wall_ns.size(), asked);
  const double sum_s = std::accumulate(r.wall_ns.begin(), r.wall_ns.end(), 0.0) * 1e-9;
  if (sum_s > 1.05 * elapsed_s + 1e-4)
    return fmt::format("its samples sum up to {:.3g} s, and the request took {:.3g} s: wrong units?", sum_s, elapsed_s);
  return "";
}

std::string RunnerClient::why_not_believed(const RunRequest& request, const RunResult& r) const {
  if (!sound(r.wall_ns) || !sound(r.cpu_ns)) return "a time is not finite and above zero";
  if (request.check && !r.error) return "the error against the reference is missing";
  constexpr double kMostTolerance = 0.1;
  if (!(r.tolerance >= 0 && r.tolerance <= kMostTolerance))
    return fmt::format("a tolerance of {:.3g} is none: at most {}", r.tolerance, kMostTolerance);
  if (r.error && *r.error < 0) return fmt::format("an error of {:.3g} cannot be", *r.error);
  if (r.error && !(*r.error <= r.tolerance))
    return fmt::format("wrong result: error {:.3g}, allowed {:.3g}", *r.error, r.tolerance);
  const double seconds = quantile(r.cpu_ns.empty() ? r.wall_ns : r.cpu_ns, 0.5) * 1e-9;
  const auto peak = description_->peak_flops.find(std::string(kernels::name(request.problem.dtype)));
  const double rate = kernels::flops(request.problem).value / seconds;
  if (peak != description_->peak_flops.end() && peak->second > 0 && rate > 1.5 * peak->second)
    return fmt::format("{:.3g} FLOP/s are above the device's peak of {:.3g}: wrong units?", rate, peak->second);
  const double bandwidth = kernels::bytes(request.problem).value / seconds;
  if (request.cold && description_->bandwidth > 0 && bandwidth > 4 * description_->bandwidth)
    return fmt::format("{:.3g} B/s are far above the memory's {:.3g}: wrong units?", bandwidth,
                       description_->bandwidth);
  return "";
}

}  // namespace poolcast::calibration
