// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace poolcast {

struct IsolationLimits {
  std::int64_t cpu_seconds = 10;       ///< and ten times as long by the clock on the wall
  std::int64_t bytes = 1'073'741'824;  ///< of address space
};

/// Runs this program anew with other arguments, in a process that gets its limits before it starts, no descriptor but
/// the standard three (stdin is empty), an environment of a fixed locale alone, and may not dump core.
struct IsolatedEnd {
  int status = -1;     ///< of the child's exit; -1: it was killed
  std::string killed;  ///< why, for a message
};
IsolatedEnd run_isolated(const std::vector<std::string>& arguments, const IsolationLimits& limits);

}  // namespace poolcast
