// SPDX-License-Identifier: Apache-2.0
// Everything that a lent GPU is asked in one go: every device kernel against the double reference, then ceilings, then
// times against the ceilings and the vendor's library.   kernels_gpu_check [check|time|all]
// Exit 0: all sound; 1: a kernel erred or threw; 77: no device (a skipped test).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/peaks.h"

using namespace poolcast;
using namespace poolcast::kernels;

namespace {

// Odd extents, single rows, more tiles than multiprocessors, empty experts, every kind of block.
const char* const kChecks[] = {
    "gemm bf16 m=1 n=8 k=8",
    "gemm bf16 m=127 n=129 k=136",
    "gemm bf16 m=128 n=256 k=64",
    "gemm bf16 m=333 n=777 k=1048",
    "gemm bf16 m=2100 n=4200 k=520",
    "gemm bf16 m=4096 n=4096 k=4096",
    "gemm bf16 m=65 n=63 k=77",
    "gemm fp32 m=130 n=257 k=99",
    "gemm int8 m=129 n=260 k=144",
    "gemm int8 m=2100 n=4200 k=1040",
    "gemm int8 m=33 n=35 k=37",
    "grouped_gemm bf16 experts=8 tokens=1 top_k=2 n=256 k=128",
    "grouped_gemm bf16 experts=16 tokens=300 top_k=4 n=500 k=264 skew=120",
    "grouped_gemm bf16 experts=64 tokens=256 top_k=8 n=1408 k=2048 skew=60",
    "grouped_gemm int8 experts=16 tokens=300 top_k=4 n=516 k=272 skew=120",
    "grouped_gemm fp32 experts=4 tokens=50 top_k=2 n=70 k=33",
    "prefill_attention bf16 query=1 heads=4 kv_heads=2 head_dim=128",
    "prefill_attention bf16 query=127 context=129 heads=4 kv_heads=1 head_dim=128",
    "prefill_attention bf16 query=300 context=1000 heads=8 kv_heads=2 head_dim=128 block=32",
    "prefill_attention bf16 query=1024 heads=8 kv_heads=8 head_dim=128 block=128",
    "prefill_attention bf16 query=65 context=10 heads=2 kv_heads=1 head_dim=80 block=13",
    "prefill_attention fp32 query=70 context=33 heads=2 kv_heads=1 head_dim=64",
    "decode_attention bf16 requests=1 context=1 heads=8 kv_heads=8 head_dim=128",
    "decode_attention bf16 requests=3 context=1000 heads=32 kv_heads=4 head_dim=128",
    "decode_attention bf16 requests=2 context=20000 heads=8 kv_heads=1 head_dim=128 block=64",
    "decode_attention bf16 requests=5 context=77 heads=40 kv_heads=2 head_dim=64 block=7",
    "decode_attention bf16 requests=300 context=500 heads=8 kv_heads=8 head_dim=64",
    "decode_attention bf16 requests=2 context=100 heads=4 kv_heads=2 head_dim=96",
    "decode_attention fp32 requests=3 context=333 heads=4 kv_heads=2 head_dim=128",
    "softmax bf16 rows=77 columns=1001",
    "softmax fp32 rows=3 columns=32000",
    "cross_entropy bf16 rows=77 columns=32001",
    "cross_entropy fp32 rows=5 columns=100",
    "rms_norm bf16 rows=77 columns=4096",
    "rms_norm fp32 rows=3 columns=99",
    "silu_gate bf16 rows=7 columns=1001",
    "silu_gate fp32 rows=3 columns=100",
    "residual_add bf16 rows=7 columns=1001",
    "residual_add fp32 rows=3 columns=100",
    "rotary bf16 tokens=77 heads=8 head_dim=128",
    "rotary fp32 tokens=1000 heads=3 head_dim=64",
    "kv_store bf16 tokens=37 kv_heads=2 head_dim=128",
    "kv_store fp32 tokens=7 kv_heads=3 head_dim=9 block=3",
    "kv_copy bf16 blocks=77 kv_heads=8 head_dim=128",
    "kv_copy bf16 blocks=5 block=3 kv_heads=1 head_dim=9",
    "all_reduce bf16 ranks=2 elements=100001",
    "all_reduce fp32 ranks=8 elements=100001",
};

const char* const kTimed[] = {
    "gemm bf16 m=512 n=512 k=512",
    "gemm bf16 m=1024 n=1024 k=1024",
    "gemm bf16 m=2048 n=2048 k=2048",
    "gemm bf16 m=4096 n=4096 k=4096",
    "gemm bf16 m=8192 n=8192 k=8192",
    "gemm bf16 m=64 n=8192 k=8192",
    "gemm fp32 m=4096 n=4096 k=4096",
    "gemm int8 m=4096 n=4096 k=4096",
    "grouped_gemm bf16 experts=64 tokens=256 top_k=8 n=2816 k=2048",
    "grouped_gemm bf16 experts=64 tokens=4096 top_k=8 n=2816 k=2048 skew=60",
    "prefill_attention bf16 query=8192 heads=32 kv_heads=8 head_dim=128",
    "prefill_attention bf16 query=2048 context=30720 heads=32 kv_heads=8 head_dim=128",
    "decode_attention bf16 requests=64 context=4096 heads=8 kv_heads=8 head_dim=128",
    "decode_attention bf16 requests=64 context=4096 heads=64 kv_heads=8 head_dim=128",
    "decode_attention bf16 requests=1 context=131072 heads=64 kv_heads=8 head_dim=128",
    "softmax bf16 rows=4096 columns=32768",
    "rms_norm bf16 rows=16384 columns=8192",
    "rotary bf16 tokens=16384 heads=64 head_dim=128",
    "kv_copy bf16 blocks=8192 kv_heads=8 head_dim=128",
    "all_reduce bf16 ranks=8 elements=33554432",
};

KernelProblem problem_of(const char* text) {
  const ProblemOrError parsed = parse_problem(text);
  if (!parsed.problem) throw std::runtime_error(std::string(text) + ": " + parsed.error);
  return *parsed.problem;
}

std::vector<const Kernel*> gpu_kernels(Operation operation) {
  std::vector<const Kernel*> found;
  for (const Kernel& kernel : cuda::cuda_kernels())
    if (kernel.operation == operation) found.push_back(&kernel);
  return found;
}

/// Three runs with fresh poison: an error that changes between them is a race.
bool sound(const Kernel& kernel, const KernelProblem& problem) {
  Team team;
  const auto prepared = kernel.prepare(problem, 1, team);
  double worst = 0, least = INFINITY;
  for (int i = 0; i < 3; ++i) {
    prepared->poison();
    prepared->run();
    const double error = prepared->error();
    worst = std::max(worst, error);
    least = std::min(least, error);
  }
  const bool ok = worst <= allowed_error(problem) && worst == least;
  std::printf("  %-15s %-6s error %.1e of %.0e%s\n", std::string(kernel.implementation).c_str(), ok ? "ok" : "FAULT",
              worst, allowed_error(problem), worst == least ? "" : ", changes from run to run");
  return ok;
}

template <class Body>
bool guarded(const Kernel& kernel, const KernelProblem& problem, Body body) {
  const std::string reason = kernel.why_not(problem);
  if (!reason.empty()) {
    std::printf("  %-15s skipped: %s\n", std::string(kernel.implementation).c_str(), reason.c_str());
    return true;
  }
  try {
    return body();
  } catch (const std::exception& error) {
    std::printf("  %-15s FAULT  %s\n", std::string(kernel.implementation).c_str(), error.what());
    return false;
  }
}

int check_all() {
  int faults = 0;
  for (const char* text : kChecks) {
    const KernelProblem problem = problem_of(text);
    std::printf("%s\n", text);
    for (const Kernel* kernel : gpu_kernels(problem.operation))
      faults += !guarded(*kernel, problem, [&] { return sound(*kernel, problem); });
    std::fflush(stdout);
  }
  std::printf("%d faults\n\n", faults);
  return faults;
}

struct Ceilings {
  std::vector<cuda::ComputePeak> compute;
  std::vector<cuda::MemoryPeak> memory;

  double flops_of(DType dtype) const {
    double best = 0;
    for (const cuda::ComputePeak& peak : compute) {
      const std::string format(name(dtype));
      if (peak.name.size() > format.size() && peak.name.ends_with(format)) best = std::max(best, peak.rate.value);
    }
    return best;
  }
  double bandwidth() const {
    double best = 0;
    for (const cuda::MemoryPeak& peak : memory) best = std::max(best, peak.rate.value);
    return best;
  }
};

Ceilings measure_ceilings() {
  Ceilings ceilings{cuda::measure_compute_peaks(), cuda::measure_memory_peaks()};
  std::printf("measured ceilings\n");
  for (const auto& peak : ceilings.compute)
    std::printf("  %-15s %9.1f TFLOP/s\n", peak.name.c_str(), peak.rate.value * 1e-12);
  for (const auto& peak : ceilings.memory)
    std::printf("  %-15s %9.1f GB/s\n", peak.name.c_str(), peak.rate.value * 1e-9);
  return ceilings;
}

/// Median of the device's own clock over about 0.3 s, after warming up; `cold` empties the caches before each run.
double median_seconds(PreparedKernel& prepared, bool cold) {
  for (int i = 0; i < 3; ++i) prepared.run();
  std::vector<double> seconds;
  for (double spent = 0; seconds.size() < 5 || (spent < 0.3 && seconds.size() < 500);) {
    if (cold) prepared.cool();
    prepared.run();
    seconds.push_back(prepared.device_seconds()->value);
    spent += seconds.back();
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

bool time_one(const Kernel& kernel, const KernelProblem& problem, const Ceilings& ceilings, double& vendor) {
  Team team;
  const auto prepared = kernel.prepare(problem, 1, team);
  const double warm = median_seconds(*prepared, false), cold = median_seconds(*prepared, true);
  if (kernel.implementation == "cublas") vendor = warm;
  const double rate = flops(problem).value / warm, traffic = bytes(problem).value / warm;
  std::printf("  %-15s %10.1f us warm %10.1f us cold %8.1f TFLOP/s %5.1f %% of peak %8.1f GB/s %5.1f %% of bandwidth",
              std::string(kernel.implementation).c_str(), warm * 1e6, cold * 1e6, rate * 1e-12,
              100 * rate / ceilings.flops_of(problem.dtype), traffic * 1e-9, 100 * traffic / ceilings.bandwidth());
  if (vendor > 0) std::printf("  %.2f x cublas", vendor / warm);
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

int time_all() {
  const Ceilings ceilings = measure_ceilings();
  int faults = 0;
  for (const char* text : kTimed) {
    const KernelProblem problem = problem_of(text);
    std::printf("%s\n", text);
    double vendor = 0;
    for (const Kernel* kernel : gpu_kernels(problem.operation))
      faults += !guarded(*kernel, problem, [&] { return time_one(*kernel, problem, ceilings, vendor); });
  }
  return faults;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  for (const char* text : kChecks) problem_of(text);  // a misspelt problem is found without a device too
  for (const char* text : kTimed) problem_of(text);
  if (!cuda::why_no_device().empty()) {
    std::printf("kernels_gpu_check: skipped, %s\n", cuda::why_no_device().c_str());
    return 77;
  }
  const cuda::DeviceInfo& of = cuda::device();
  std::printf(
      "%s, compute capability %d.%d, %d multiprocessors at up to %.0f MHz, %.0f GiB, driver for CUDA %s, runtime "
      "%s\n\n",
      of.name.c_str(), of.major, of.minor, of.multiprocessors, of.clock_hz * 1e-6,
      of.memory.value / (1024.0 * 1024 * 1024), of.driver.c_str(), of.runtime.c_str());
  int faults = 0;
  if (what != "time") faults += check_all();
  if (what != "check") faults += time_all();
  return faults == 0 ? 0 : 1;
}
