// SPDX-License-Identifier: Apache-2.0
// Times kernels on this machine, one line each, after a check against the reference.
//   bench_kernels [-t THREADS] [-s SECONDS] [-i IMPLEMENTATION] PROBLEM...     "gemm bf16 m=512 n=512 k=512"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/registry.h"
#include "kernels/timer.h"

using namespace poolcast;
using namespace poolcast::kernels;

namespace {

struct Options {
  int threads = 1;
  double seconds = 0.5;
  std::string implementation;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void bench(const Kernel& kernel, const KernelProblem& problem, const Options& options) {
  const std::string reason = kernel.why_not(problem);
  if (!reason.empty()) {
    std::printf("  %-15.*s skipped: %s\n", static_cast<int>(kernel.implementation.size()), kernel.implementation.data(),
                reason.c_str());
    return;
  }
  Team team(options.threads);
  const auto prepared = kernel.prepare(problem, 1, team);
  prepared->poison();
  prepared->run();
  const double error = prepared->error();
  std::vector<double> cpu, wall;
  for (double spent = 0; cpu.empty() || (spent < options.seconds && cpu.size() < 10000);) {
    const RunTime time = time_run(*prepared, team);
    cpu.push_back(time.device ? time.device->value : time.cpu.value);
    wall.push_back(time.wall.value);
    spent += time.wall.value;
  }
  const double seconds = median(cpu);
  std::printf(
      "  %-15.*s %10.1f us cpu (best %.1f) %10.1f us wall %8.1f GFLOP/s %7.2f GB/s  error %.1e of %.0e, %zu runs\n",
      static_cast<int>(kernel.implementation.size()), kernel.implementation.data(), seconds * 1e6,
      *std::min_element(cpu.begin(), cpu.end()) * 1e6, median(wall) * 1e6, flops(problem).value / seconds * 1e-9,
      bytes(problem).value / seconds * 1e-9, error, allowed_error(problem), cpu.size());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-t") == 0 && i + 1 < argc) {
      options.threads = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "-s") == 0 && i + 1 < argc) {
      options.seconds = std::atof(argv[++i]);
    } else if (std::strcmp(argv[i], "-i") == 0 && i + 1 < argc) {
      options.implementation = argv[++i];
    } else {
      const ProblemOrError parsed = parse_problem(argv[i]);
      if (!parsed.problem) {
        std::fprintf(stderr, "bench_kernels: %s\n", parsed.error.c_str());
        return 2;
      }
      std::printf("%s\n", to_text(*parsed.problem).c_str());
      for (const Kernel& kernel : all_kernels())
        if (kernel.operation == parsed.problem->operation &&
            (options.implementation.empty() ? kernel.implementation != "reference"
                                            : kernel.implementation == options.implementation))
          bench(kernel, *parsed.problem, options);
    }
  }
}
