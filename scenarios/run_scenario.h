// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/summary.h"
#include "sim/simulation.h"

namespace poolcast {

struct RunOptions {
  std::string scenario;                ///< path of the file
  std::vector<std::string> overrides;  ///< `path.to.key=value`, applied in order
  std::string out;                     ///< folder for summary.json and results.h5; empty: no files
  bool write_requests = true;          ///< results.h5 too
  bool stepwise = false;
};

/// Reads, builds and runs a scenario, and writes the files asked for. Files are opened before the run, so that a folder
/// that cannot be written is told at once, and appear after it, whole. Throws ConfigError for what the user can mend
/// and BrokenLaw for what they cannot.
Summary run_scenario(const RunOptions& options, const std::function<void(const Progress&)>& progress = {});

}  // namespace poolcast
