// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace poolcast::calibration {

/// poolcast's own runner: answers requests of the protocol from `in` with the kernels of kernels/registry.h, one line
/// each, until `in` ends. `device` is "cpu" or another kind of kernels/kernel.h; `digest` stands for all its kernels.
struct RunnerSetup {
  std::string device = "cpu";
  int threads = 1;
  std::string digest;
};
/// The name of this machine's CPU with so many threads, as its runner describes it.
std::string cpu_device_name(int threads);

void serve_runner(std::FILE* in, std::FILE* out, const RunnerSetup& setup);

}  // namespace poolcast::calibration
