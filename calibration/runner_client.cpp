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
    : command_(std::move(command)), limits_(limits) {}

Description RunnerClient::ask_description(bool peaks) {
  const auto fail = [&](const std::string& why) {
    child_.reset();
    throw ConfigError(fmt::format("runner {}: {}", quote(command_.front()), why));
  };
  child_ = std::make_unique<ChildProcess>(command_);
  std::string line;
  child_->send(to_line(DescribeRequest{peaks}));
  const ChildProcess::Wait wait = child_->receive(limits_.describe_s, line);
  if (wait != ChildProcess::Wait::kLine) fail(words(wait, *child_, limits_.describe_s));
  auto answer = read_description(line);
  if (!answer) fail("its description is no answer of the protocol: " + quote(line));
  if (const auto* const error = std::get_if<RunnerError>(&*answer)) fail(error->message);
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
  if (failures_in_a_row_ > limits_.restarts)
    return {std::nullopt, fmt::format("the runner failed {} times in a row and was given up", failures_in_a_row_)};
  describe(true);
  if (!child_) {
    ++restarted_;
    const Description again = ask_description(false);
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
  child_->send(to_line(request));
  const ChildProcess::Wait wait = child_->receive(limits_.run_s, line);
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
  if (wait != ChildProcess::Wait::kLine) return broken(words(wait, *child_, limits_.run_s));
  auto answer = read_result(line);
  if (!answer) return broken("the runner printed something else: " + quote(line));
  failures_in_a_row_ = 0;
  if (const auto* const error = std::get_if<RunnerError>(&*answer))
    return {std::nullopt, fmt::format("{}: {}", error->code, error->message)};
  RunResult result = std::get<RunResult>(std::move(*answer));
  std::string doubt = why_not_believed(request, result, elapsed_s);
  if (!doubt.empty()) return {std::nullopt, std::move(doubt)};
  return {std::move(result), ""};
}

std::string RunnerClient::why_not_believed(const RunRequest& request, const RunResult& r, double elapsed_s) const {
  const auto asked = static_cast<std::size_t>(request.repetitions);
  if (r.wall_ns.size() != asked || (!r.cpu_ns.empty() && r.cpu_ns.size() != asked))
    return fmt::format("{} samples instead of {}", r.wall_ns.size(), asked);
  if (!sound(r.wall_ns) || !sound(r.cpu_ns)) return "a time is not finite and above zero";
  const double sum_s = std::accumulate(r.wall_ns.begin(), r.wall_ns.end(), 0.0) * 1e-9;
  if (sum_s > 1.05 * elapsed_s + 1e-4)
    return fmt::format("its samples sum up to {:.3g} s, and the request took {:.3g} s: wrong units?", sum_s, elapsed_s);
  if (request.check && !r.error) return "the error against the reference is missing";
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
