// SPDX-License-Identifier: Apache-2.0
#include "kernels/peaks.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/cpu.h"
#include "kernels/memory.h"
#include "kernels/peaks/loops.h"
#include "kernels/peaks/memory.h"
#include "kernels/random.h"
#include "kernels/timer.h"

namespace poolcast::kernels {
namespace {

/// CPU time of the slowest thread while every thread does one part.
Seconds time_of(Team& team, const std::function<void(std::int64_t)>& part) {
  team.reset_busy();
  const Seconds before = thread_cpu_now();
  team.parallel(team.size(), part);
  return std::max(team.worker_busy(), thread_cpu_now() - before);
}

/// Best of ten runs of about 5 ms each.
FlopsPerSecond rate_of(Team& team, double (*loop)(std::int64_t rounds)) {
  constexpr std::int64_t kFew = 20'000;
  loop(kFew);
  const Seconds before = thread_cpu_now();
  loop(kFew);
  const double rounds = std::clamp(kFew * (5e-3 / (thread_cpu_now() - before).value), 1e4, 1e8);
  const auto many = static_cast<std::int64_t>(rounds);
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    std::vector<double> done(static_cast<std::size_t>(team.size()));
    const Seconds time = time_of(team, [&](std::int64_t part) { done[static_cast<std::size_t>(part)] = loop(many); });
    best = std::max(best, static_cast<double>(team.size()) * done[0] / time.value);
  }
  return FlopsPerSecond(best);
}

/// Each block once, then some of them again.
std::vector<std::int32_t> shuffled_blocks(std::int64_t count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(1);
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
  for (std::size_t i = 0; i < kBlocksAtOnce; ++i) order.push_back(order[i]);
  return order;
}

}  // namespace

std::vector<ComputePeak> measure_compute_peaks(Team& team) {
  const CpuFeatures& has = cpu().features;
  std::vector<ComputePeak> peaks = {{"sse fp32", rate_of(team, peak_sse_fp32)}};
  if (has.avx512) peaks.push_back({"avx512 fma fp32", rate_of(team, peak_avx512_fp32)});
  if (has.avx512_bf16) peaks.push_back({"vdpbf16ps", rate_of(team, peak_avx512_bf16)});
  if (has.avx512_vnni) peaks.push_back({"vpdpbusd", rate_of(team, peak_avx512_int8)});
  if (has.amx_bf16) peaks.push_back({"amx bf16", rate_of(team, peak_amx_bf16)});
  if (has.amx_int8) peaks.push_back({"amx int8", rate_of(team, peak_amx_int8)});
  return peaks;
}

std::vector<MemoryPeak> measure_memory_peaks(Team& team) {
  const auto least = static_cast<std::int64_t>(std::max(cpu().l3.value * 4, 0x1p27));
  constexpr std::int64_t kTurn = 4096 * kBlocksAtOnce;
  const std::int64_t part_bytes = (least / team.size() + kTurn - 1) / kTurn * kTurn;
  Memory memory;
  std::vector<char*> from, to;
  for (int i = 0; i < team.size(); ++i) {
    from.push_back(memory.take<char>(part_bytes + 4096));
    to.push_back(memory.take<char>(part_bytes));
  }
  const auto read = cpu().features.avx512 ? read_all_avx512 : read_all;
  std::vector<std::uint64_t> seen(from.size());
  double reading = 0, copying = 0, scattered = 0;
  const std::vector<std::int32_t> order = shuffled_blocks(part_bytes / 4096);
  const double bytes = static_cast<double>(part_bytes) * team.size();
  for (int pass = 0; pass < 8; ++pass) {
    reading = std::max(reading, bytes / time_of(team, [&](std::int64_t i) {
                                          const auto at = static_cast<std::size_t>(i);
                                          seen[at] += read(from[at], part_bytes);
                                        }).value);
    scattered = std::max(scattered, bytes / time_of(team, [&](std::int64_t i) {
                                              const auto at = static_cast<std::size_t>(i);
                                              seen[at] += read_blocks(from[at], order.data(), part_bytes / 4096);
                                            }).value);
    copying = std::max(copying, 2 * bytes / time_of(team, [&](std::int64_t i) {
                                              const auto at = static_cast<std::size_t>(i);
                                              copy_all(to[at], from[at], part_bytes);
                                            }).value);
  }
  return {{"read", BytesPerSecond(reading)},
          {"copy", BytesPerSecond(copying)},
          {"read 4 KiB blocks", BytesPerSecond(scattered)}};
}

BytesPerSecond reading_peak(const std::vector<MemoryPeak>& peaks) {
  BytesPerSecond best;
  for (const MemoryPeak& peak : peaks)
    if (peak.name != "copy") best = std::max(best, peak.rate);
  return best;
}

FlopsPerSecond compute_peak_for(const std::vector<ComputePeak>& peaks, DType dtype) {
  FlopsPerSecond best;
  for (const ComputePeak& peak : peaks) {
    const bool bf16 = peak.name == "vdpbf16ps" || peak.name == "amx bf16";
    const bool int8 = peak.name == "vpdpbusd" || peak.name == "amx int8";
    if ((bf16 && dtype != DType::kBf16) || (int8 && dtype != DType::kInt8)) continue;
    best = std::max(best, peak.rate);
  }
  return best;
}

}  // namespace poolcast::kernels
