// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/hip/device.h"
#include "kernels/kernel.h"
#include "kernels/memory.h"

/// How HIP's implementations take part in the table of kernels: inputs and reference are those of the CPU's (a Case),
/// copied to the device once; outputs are copied back when they are to be compared.
namespace poolcast::hip {

/// The device memory of one prepared kernel, and what a run launches.
class DeviceRun {
 public:
  /// A copy of host data; an output that is copied back to `host`; room for own use.
  void* input(const void* host, std::int64_t bytes);
  void* output(void* host, std::int64_t bytes);
  void* scratch(std::int64_t bytes);
  template <class T>
  T* input(const std::vector<T>& values) {
    return static_cast<T*>(input(values.data(), static_cast<std::int64_t>(values.size() * sizeof(T))));
  }

  std::function<void()> launch;  ///< asynchronous, on the null stream

  void upload_outputs() const;
  void download_outputs() const;

 private:
  struct Output {
    void* host;
    std::size_t buffer;
  };
  std::vector<DeviceBuffer> buffers_;
  std::vector<Output> outputs_;
};

/// Copies what the device needs of the case and sets `launch`. The case outlives the run.
template <class Case>
using MakeDeviceRun = void (*)(Case& data, DeviceRun& run);

template <class Case>
class DevicePrepared final : public kernels::PreparedKernel {
 public:
  DevicePrepared(const kernels::KernelProblem& problem, std::uint64_t seed, MakeDeviceRun<Case> make)
      : case_(problem, seed, host_) {
    make(case_, run_);
  }
  void run() override {
    timer_.start();
    run_.launch();
    seconds_ = timer_.stop();
  }
  void poison() override {
    case_.poison();
    run_.upload_outputs();
  }
  double error() override {
    run_.download_outputs();
    return case_.error();
  }
  void cool() override { flush_caches(); }
  std::optional<Seconds> device_seconds() const override { return seconds_; }

 private:
  kernels::Memory host_;
  Case case_;
  DeviceRun run_;
  EventTimer timer_;
  std::optional<Seconds> seconds_;
};

/// `Kernel::prepare` of an implementation.
template <class Case, MakeDeviceRun<Case> make>
std::unique_ptr<kernels::PreparedKernel> prepare(const kernels::KernelProblem& problem, std::uint64_t seed,
                                                 kernels::Team&) {
  return std::make_unique<DevicePrepared<Case>>(problem, seed, make);
}

/// Empty, or why no kernel at all can run the problem here: no device, one that nothing was built for, or a dimension
/// of more than 2^31 - 1.
std::string why_not_here(const kernels::KernelProblem& problem);

}  // namespace poolcast::hip
