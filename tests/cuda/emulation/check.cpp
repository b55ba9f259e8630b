// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulation/check.h"

#include <cstdio>

using namespace poolcast::kernels;

bool sound(const Kernel& kernel, const KernelProblem& problem, const std::string& on) {
  const std::string reason = kernel.why_not(problem);
  if (!reason.empty()) {
    std::printf("  %-15s %-4s skipped: %s\n", std::string(kernel.implementation).c_str(), on.c_str(), reason.c_str());
    return true;
  }
  Team team;
  const auto prepared = kernel.prepare(problem, 1, team);
  prepared->poison();
  prepared->run();
  const double error = prepared->error();
  const bool ok = error <= allowed_error(problem);
  std::printf("  %-15s %-4s %-6s error %.1e of %.0e\n", std::string(kernel.implementation).c_str(), on.c_str(),
              ok ? "ok" : "FAULT", error, allowed_error(problem));
  std::fflush(stdout);
  return ok;
}
