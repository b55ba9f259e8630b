// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string_view>

#include "kernels/cuda/device.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/peaks.h"

namespace poolcast::cuda {
namespace {

using kernels::DType;

/// Of "wgmma bf16" and its like, those that end with the format.
FlopsPerSecond fastest(const std::vector<ComputePeak>& peaks, std::string_view format) {
  FlopsPerSecond best{0};
  for (const ComputePeak& peak : peaks) {
    const std::string_view name = peak.name;
    if (name.size() >= format.size() && name.substr(name.size() - format.size()) == format)
      best = std::max(best, peak.rate);
  }
  return best;
}

}  // namespace

kernels::DeviceFacts facts(bool peaks) {
  const DeviceInfo& info = device();
  kernels::DeviceFacts f;
  f.name = info.name;
  f.driver = "CUDA " + info.driver;
  f.runtime = "CUDA " + info.runtime;
  f.compiler = "nvcc " + std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  if (!peaks) return f;
  const auto compute = measure_compute_peaks();
  for (const DType type : {DType::kBf16, DType::kFp32, DType::kInt8})
    f.compute.emplace_back(type, fastest(compute, kernels::name(type)));
  for (const MemoryPeak& peak : measure_memory_peaks()) {
    if (peak.name == "read") f.reading = peak.rate;
  }
  return f;
}

}  // namespace poolcast::cuda
