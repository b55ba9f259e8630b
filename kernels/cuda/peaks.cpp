// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/peaks.h"

#include <algorithm>
#include <cstddef>

#include "kernels/cuda/device.h"
#include "kernels/cuda/peak_loops.h"

namespace poolcast::cuda {
namespace {

constexpr int kPasses = 5;
constexpr double kLoopSeconds = 0.02;

using Loop = double (*)(int multiprocessors, int rounds, float* sink, Stream stream);

/// Lengthens the loop until a pass takes kLoopSeconds, then keeps the best of several.
FlopsPerSecond best_rate(Loop loop, float* sink) {
  EventTimer timer;
  double best = 0;
  int rounds = 1024;
  for (int pass = 0; pass < kPasses;) {
    timer.start();
    const double operations = loop(device().multiprocessors, rounds, sink, nullptr);
    const double seconds = timer.stop().value;
    if (seconds < kLoopSeconds && rounds < (1 << 28)) {
      rounds *= 2;
    } else {
      best = std::max(best, operations / seconds);
      ++pass;
    }
  }
  return FlopsPerSecond(best);
}

template <class Launch>
BytesPerSecond best_bandwidth(double bytes, Launch launch) {
  EventTimer timer;
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    timer.start();
    launch();
    best = std::max(best, bytes / timer.stop().value);
  }
  return BytesPerSecond(best);
}

}  // namespace

std::vector<ComputePeak> measure_compute_peaks() {
  const DeviceBuffer sink(sizeof(float));
  std::vector<ComputePeak> peaks;
  const auto add = [&](const char* name, Loop loop) { peaks.push_back({name, best_rate(loop, sink.as<float>())}); };
  add("fma fp32", launch_fma_fp32);
  add("mma bf16", launch_mma_bf16);
  add("mma int8", launch_mma_int8);
  if (device().major == 9 && device().minor == 0) {
    add("wgmma bf16", launch_wgmma_bf16);
    add("wgmma int8", launch_wgmma_int8);
  }
  if (device().major == 10 && device().minor == 0) {
    add("tcgen05 bf16", launch_tcgen05_bf16);
  }
  return peaks;
}

std::vector<MemoryPeak> measure_memory_peaks() {
  const auto bytes = static_cast<std::size_t>(std::min(2147483648.0, device().memory.value / 8)) / 4096 * 4096;
  const DeviceBuffer from(bytes), to(bytes), sink(sizeof(float));
  launch_fill_random(from.get(), bytes, nullptr);
  const int multiprocessors = device().multiprocessors;
  const auto size = static_cast<double>(bytes);
  return {
      {"read",
       best_bandwidth(size, [&] { launch_read(from.get(), bytes, multiprocessors, sink.as<float>(), nullptr); })},
      {"copy", best_bandwidth(2 * size, [&] { launch_copy(from.get(), to.get(), bytes, multiprocessors, nullptr); })}};
}

}  // namespace poolcast::cuda
