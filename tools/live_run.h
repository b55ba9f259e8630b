// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibration/live/executor.h"
#include "calibration/live/term_errors.h"
#include "scenarios/summary.h"
#include "sim/simulation.h"

namespace poolcast {

struct LiveRunOptions {
  std::string scenario;
  std::vector<std::string> overrides;
  std::string implementation = "auto";
  LiveClock clock = LiveClock::kDevice;
  int threads = 1;
};

struct LiveRun {
  Summary measured;             ///< its curve line says what ran
  std::vector<LiveStep> steps;  ///< every step, by both clocks
};

/// Predicted against measured TTFT, TPOT, ITL and E2E at p50, p90 and p99, as a table.
std::string live_comparison(const Summary& predicted, const Summary& measured);

/// Where the error of a curve is, as a table for each kind of steps: predicted and measured time of each term in a step
/// (mean), and which share of the steps' time the difference is. Without terms below a thousandth of the step.
std::string terms_text(const std::vector<TermErrors>& kinds);

/// Runs a scenario of one pool of one replica with every step on this machine's CPU. Throws ConfigError when the
/// scenario has more than that, or an engine whose steps a device cannot follow.
LiveRun run_live(const LiveRunOptions& options, const std::function<void(const Progress&)>& progress = {});

}  // namespace poolcast
