// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

/// Which runner the commands of a calibration talk to.
namespace poolcast {

struct RunnerChoice {
  std::string device = "cpu";
  int threads = 1;
  std::string command;  ///< of another runner, as a shell line; empty: poolcast's own
};

void add_runner_options(CLI::App& command, RunnerChoice& choice);

/// The program and its arguments.
std::vector<std::string> runner_command(const RunnerChoice& choice);

}  // namespace poolcast
