// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calibration/plan.h"
#include "calibration/records.h"
#include "calibration/runner_client.h"
#include "calibration/samples.h"

namespace poolcast::calibration {

struct CalibrateOptions {
  CurveIdentity identity;       ///< shape, layout, precisions
  std::string kernel = "auto";  ///< or one implementation by name
  PlanLimits limits;
  StopRule stop;
  double budget_s = 600;
  int rounds = 1;              ///< how often each shape is measured, all the others in between
  double refine_above = 0.02;  ///< refinement ends when no gap is expected to be further off
  std::string output;          ///< an existing calibration there is continued
  double save_every_s = 10;
};

struct CalibrateProgress {
  std::size_t done = 0, planned = 0, failed = 0, refined = 0;
  double spent_s = 0;
  std::string now;  ///< the problem that is measured
};

struct CalibrateReport {
  std::size_t measured = 0;        ///< now
  std::size_t kept = 0;            ///< from before
  std::size_t kept_of_others = 0;  ///< of those, measured with another build of the kernels
  std::size_t too_large = 0;       ///< shapes of the plan that need more memory than the limits give
  std::size_t failed = 0, noisy = 0, refined = 0, left = 0;
  std::size_t again = 0;                        ///< measurements of the further rounds
  bool complete = false;                        ///< the whole plan is measured
  bool given_up = false;                        ///< the runner failed too often in a row, and the rest was not tried
  std::map<std::string, std::size_t> failures;  ///< reasons of those that failed now
  std::vector<std::string> left_out;
};

/// Measures the plan, coarse shapes first, then shapes in the gaps where leaving a point out changes its prediction
/// most, weighted by its part's share of the term, then all of them again as often as `rounds` says (so that what else
/// goes on at the time of one shape does not stand alone), until the budget ends or the runner is given up. A shape
/// that has begun is finished. Saves as it goes, so that a kill costs some seconds; the next call goes on where this
/// one ended, and tries again what failed. Fits at the end.
///
/// Throws ConfigError when the device is being measured or `output` written by someone else, when `output` is a
/// calibration of something else (saying what differs) or cannot be read or written, and when the runner cannot be used
/// at all or has no kernel of that name.
CalibrateReport calibrate(const CalibrateOptions& options, RunnerClient& runner,
                          const std::function<void(const CalibrateProgress&)>& progress);

/// One shape: repeated until the stop rule is content. Fills samples, marks or the failure.
void measure(RunnerClient& runner, const StopRule& stop, const std::string& kernel, bool cpu_clock, Point& point);

}  // namespace poolcast::calibration
