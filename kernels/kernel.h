// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/problem.h"
#include "kernels/threads.h"
#include "models/units.h"

namespace poolcast::kernels {

enum class DeviceKind { kCpu, kOpenCl, kCuda, kHip };
std::string_view name(DeviceKind kind);  // cpu, opencl, cuda, hip

/// One problem on one implementation, with inputs of its own, ready to be run again and again.
///
/// Inputs are random numbers that depend on the seed and the problem alone, so that implementations are given the same
/// ones: never zeros, which run faster than data does. Constant weights are packed in `prepare`; what changes from step
/// to step (activations, K and V) is packed inside `run`. Every run reads the same inputs and writes the same outputs.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;

  /// One execution. A device works in order and is done when this returns.
  virtual void run() = 0;

  /// Overwrites the outputs with NaN (int32: the most negative number), so that a result left from before is seen.
  virtual void poison() = 0;

  /// Worst error of the outputs against the double reference on the same (already rounded) inputs:
  ///   max |got - wanted| / scale, scale = root mean square of the wanted values that were compared
  /// (of attention row by row: the scale is that of the row where it is greater, since rows that see few tokens are
  /// large). Infinite when any output is NaN, infinite or still poisoned. Every output is looked at for those; where
  /// the reference is expensive (over 2^28 operations) values are compared on a random sample of outputs instead of
  /// all. A few seconds at most. See allowed_error.
  virtual double error() = 0;

  /// Makes the inputs as cold as a step finds them: evicts inputs, packed weights and outputs from the caches; of a
  /// GEMM on a CPU see gemm/product.h.
  virtual void cool() = 0;

  /// Time that the device itself measured for the last run (CUDA events, OpenCL profiling); nothing on CPUs.
  virtual std::optional<Seconds> device_seconds() const { return std::nullopt; }
};

/// One implementation of one operation. Rows of the table in registry.h.
struct Kernel {
  Operation operation;
  std::string_view
      implementation;  // reference, portable_naive, portable, avx512, amx, onednn, opencl, cuda_portable...
  DeviceKind device;
  std::string_view description;  // one line: the algorithm

  /// Empty if the problem can run here and now; otherwise one line for people: a format or dimension that the
  /// implementation does not have, an instruction set or a device that is absent. Asked at run time, cheap.
  std::string (*why_not)(const KernelProblem& problem);

  /// Allocates and fills. Only where why_not is empty; throws std::bad_alloc where memory is short. `team` outlives the
  /// result and is ignored by devices.
  std::unique_ptr<PreparedKernel> (*prepare)(const KernelProblem& problem, std::uint64_t seed, Team& team);
};

/// Largest `error()` of a sound implementation: rounding of inputs is not counted (the reference gets the rounded
/// ones), rounding of outputs and of sums is. int8 products and copies are exact.
double allowed_error(const KernelProblem& problem);

}  // namespace poolcast::kernels
