// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "kernels/opencl/opencl.h"
#include "kernels/peaks.h"

using namespace poolcast::kernels;

TEST_CASE("peaks are measured, and every format has one", "[.][device]") {
  for (int threads : {1, 2}) {
    Team team(threads);
    const auto compute = measure_compute_peaks(team);
    for (const ComputePeak& peak : compute) WARN(peak.name << ": " << peak.rate.value * 1e-9 << " GFLOP/s");
    for (const MemoryPeak& peak : measure_memory_peaks(team)) {
      WARN(peak.name << ": " << peak.rate.value * 1e-9 << " GB/s on " << team.size() << " threads");
      CHECK(peak.rate.value > 1e8);
    }
    for (DType dtype : {DType::kFp32, DType::kBf16, DType::kInt8}) CHECK(compute_peak_for(compute, dtype).value > 1e9);
  }
}

TEST_CASE("peaks of the OpenCL device are measured", "[.][device]") {
  if (opencl_device_name().empty()) return;
  const OpenClPeaks peaks = measure_opencl_peaks();
  WARN(peaks.fp32.value * 1e-9 << " GFLOP/s, " << peaks.reading.value * 1e-9 << " GB/s");
  CHECK(peaks.fp32.value > 1e8);
  CHECK(peaks.reading.value > 1e8);
}
