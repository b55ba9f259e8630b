// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "kernels/opencl/device.h"
#include "kernels/opencl/opencl.h"
#include "kernels/opencl/sources.h"
#include "kernels/timer.h"

namespace poolcast::kernels {
namespace {

/// The shortest of some launches, by the clock that kernels are timed by.
double least_seconds(OpenClRun& run) {
  const bool one_cpu = opencl_on_one_cpu();
  run.launch();  // compiles
  double least = 1e30;
  for (int i = 0; i < 5; ++i) {
    const Seconds begin = process_cpu_now();
    const Seconds device = run.launch();
    least = std::min(least, (one_cpu ? std::min(process_cpu_now() - begin, device) : device).value);
  }
  return least;
}

FlopsPerSecond multiply_add_rate() {
  constexpr std::int64_t kItems = 1 << 17, kRounds = 256, kOperations = 2 * 8 * 16;  // of an item and round
  std::vector<float> out(kItems);
  OpenClRun run;
  run.build(kOpenClPeaks, "-DFP32", "multiply_add");
  run.output(out.data(), kItems * 4);
  run.number(0.999f);
  run.number(0.001f);
  run.number(kRounds);
  run.range(kItems, 1, 64, 1);
  return FlopsPerSecond(static_cast<double>(kItems * kRounds * kOperations) / least_seconds(run));
}

BytesPerSecond reading_rate() {
  constexpr std::int64_t kGroups = 1024, kRounds = 64, kBytes = kGroups * kRounds * 4096;
  const std::vector<float> in(kBytes / 4, 1.5f);
  std::vector<float> out(kGroups * 64);
  OpenClRun run;
  run.build(kOpenClPeaks, "-DFP32", "read_in_order");
  run.input(in.data(), kBytes);
  run.output(out.data(), kGroups * 64 * 4);
  run.number(kRounds);
  run.range(kGroups * 64, 1, 64, 1);
  return BytesPerSecond(static_cast<double>(kBytes) / least_seconds(run));
}

}  // namespace

OpenClPeaks measure_opencl_peaks() {
  if (opencl_device_name().empty()) return {};
  return {multiply_add_rate(), reading_rate()};
}

}  // namespace poolcast::kernels
