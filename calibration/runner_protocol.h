// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/problem.h"

/// The lines that a runner and its client exchange: one JSON object a line, described in calibration/protocol.md. The
/// words for operations, formats and dimensions are those of kernels/problem.h.
namespace poolcast::calibration {

inline constexpr std::int64_t kProtocolVersion = 1;

/// One implementation of one operation that a runner offers.
struct OfferedKernel {
  std::string operation;
  std::string kernel;
  std::vector<std::string> dtypes;
  std::string digest;  ///< SHA-256 of its source or binary; may be empty
};

struct Description {
  std::string device, driver, runtime, compiler, flags, clock_state;
  std::string hardware;             ///< what is measured alone: runners that state the same share it; empty: the device
  std::vector<std::string> clocks;  ///< beside the wall: "cpu"
  std::map<std::string, double> peak_flops;  ///< FLOP/s by format, measured
  double bandwidth = 0;                      ///< B/s of memory, measured; 0 = not stated
  std::vector<OfferedKernel> kernels;
  std::vector<std::pair<std::string, std::string>> absent;  ///< implementation, why this runner does not have it
};

struct RunRequest {
  kernels::KernelProblem problem;
  std::string kernel = "auto";  ///< or one that is offered
  std::int64_t repetitions = 7;
  bool cold = false;
  bool check = true;
};

struct RunResult {
  std::string kernel;  ///< that ran
  std::string digest;
  std::vector<double> wall_ns;
  std::vector<double> cpu_ns;   ///< empty, or as many
  std::optional<double> error;  ///< against the reference, when it was asked for
  double tolerance = 0;         ///< largest sound error
};

/// `unsupported`, `memory`, `wrong_result`, `bad_request` or `failed`.
struct RunnerError {
  std::string code;
  std::string message;
};

struct DescribeRequest {
  bool peaks = true;  ///< measure them; takes a second or two
};

// Writers: one line without its end.
std::string to_line(const DescribeRequest& request);
std::string to_line(const RunRequest& request);
std::string to_line(const Description& description);
std::string to_line(const RunResult& result);
std::string to_line(const RunnerError& error);

/// Of the runner's side. A RunnerError says what is wrong with the line.
std::variant<DescribeRequest, RunRequest, RunnerError> read_request(std::string_view line);

/// Of the client's side. Nothing when the line is no answer of that kind.
std::optional<std::variant<Description, RunnerError>> read_description(std::string_view line);
std::optional<std::variant<RunResult, RunnerError>> read_result(std::string_view line);

}  // namespace poolcast::calibration
