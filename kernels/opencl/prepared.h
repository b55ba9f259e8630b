// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "kernels/kernel.h"
#include "kernels/memory.h"
#include "kernels/opencl/device.h"

namespace poolcast::kernels {

/// Builds a program for a case, copies its inputs to the device and sets what is launched.
template <class Case>
using MakeOpenClRun = void (*)(Case& data, OpenClRun& run);

/// A case of the CPU's (inputs, poison, reference) that runs on the OpenCL device.
template <class Case>
class OpenClPrepared final : public PreparedKernel {
 public:
  OpenClPrepared(const KernelProblem& problem, std::uint64_t seed, MakeOpenClRun<Case> make)
      : case_(problem, seed, host_) {
    make(case_, run_);
  }

  void run() override { seconds_ = run_.launch(); }
  void poison() override {
    case_.poison();
    run_.upload_outputs();
  }
  double error() override {
    run_.download_outputs();
    return case_.error();
  }
  void cool() override { run_.cool(); }
  std::optional<Seconds> device_seconds() const override { return seconds_; }

 private:
  Memory host_;
  Case case_;
  OpenClRun run_;
  std::optional<Seconds> seconds_;
};

/// `prepare` of a row of the table.
template <class Case, MakeOpenClRun<Case> make>
std::unique_ptr<PreparedKernel> prepare(const KernelProblem& problem, std::uint64_t seed, Team&) {
  return std::make_unique<OpenClPrepared<Case>>(problem, seed, make);
}

}  // namespace poolcast::kernels
