// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/child_process.h"
#include "calibration/runner_protocol.h"

namespace poolcast::calibration {

struct RunnerLimits {
  double describe_s = 600;  ///< longest wait for a description
  double run_s = 120;       ///< longest wait for one answer
  int restarts = 3;         ///< in a row without a sound answer between them; then the runner is given up
};

/// Samples, or why there are none.
struct RunOutcome {
  std::optional<RunResult> result;
  std::string failure;
};

/// Asks a runner and believes nothing of what it says: an answer that cannot be true is a failure of that request
/// alone. A runner that hangs, ends or prints something else is ended and started again.
///
/// Not believed: another kernel than asked for or described; other numbers of samples; times that are not finite and
/// above zero; samples that sum up to more than the request took by this side's clock; more than 1.5 times the FLOP/s
/// that the runner describes as the device's peak, or cold more than 4 times its bandwidth; an error below 0 or above
/// the tolerance, or none when it was asked for; a tolerance above 0.1. The runner is started again when its answer may
/// be that of an earlier request (its kernel, the number or the sum of its samples), and when it prints what nobody
/// asked for.
class RunnerClient {
 public:
  explicit RunnerClient(std::vector<std::string> command, RunnerLimits limits = {});

  /// The first call starts the runner; peaks are measured by it once, when they are first asked for. Throws ConfigError
  /// when it gives no sound description.
  const Description& describe(bool peaks = true);

  /// Throws ConfigError when the device is another one after a restart.
  RunOutcome run(const RunRequest& request);

  /// It failed too often in a row: nothing is measured with it any more.
  bool given_up() const { return failures_in_a_row_ > limits_.restarts; }
  int restarted() const { return restarted_; }

 private:
  Description ask_description(bool peaks);
  RunOutcome ask(const RunRequest& request);
  RunOutcome broken(std::string why);
  /// What an answer to another request might look like.
  std::string why_out_of_step(const RunRequest& request, const RunResult& result, double elapsed_s) const;
  std::string why_not_believed(const RunRequest& request, const RunResult& result) const;
  bool offers(const RunRequest& request, const std::string& kernel) const;

  std::vector<std::string> command_;
  std::string shown_;  ///< the command as its user wrote it
  RunnerLimits limits_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<Description> description_;
  bool has_peaks_ = false;
  int failures_in_a_row_ = 0;
  int restarted_ = 0;
};

}  // namespace poolcast::calibration
