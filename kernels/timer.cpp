// SPDX-License-Identifier: Apache-2.0
#include "kernels/timer.h"

#include <algorithm>
#include <ctime>

namespace poolcast::kernels {
namespace {

Seconds now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

template <class F>
RunTime timed(F run) {
  const Seconds wall = wall_now();
  const Seconds cpu = thread_cpu_now();
  run();
  const Seconds cpu_end = thread_cpu_now();
  return {wall_now() - wall, cpu_end - cpu, std::nullopt};
}

/// What reading the clocks takes.
RunTime least_of_nothing() {
  RunTime least = timed([] {});
  for (int i = 0; i < 1000; ++i) {
    const RunTime one = timed([] {});
    least.wall = std::min(least.wall, one.wall);
    least.cpu = std::min(least.cpu, one.cpu);
  }
  return least;
}

}  // namespace

Seconds wall_now() { return now(CLOCK_MONOTONIC); }
Seconds thread_cpu_now() { return now(CLOCK_THREAD_CPUTIME_ID); }
Seconds process_cpu_now() { return now(CLOCK_PROCESS_CPUTIME_ID); }

RunTime time_run(PreparedKernel& kernel, Team& team) {
  static const RunTime of_clocks = least_of_nothing();
  team.reset_busy();
  const RunTime all = timed([&] { kernel.run(); });
  const Seconds none(0), caller = std::max(none, all.cpu - of_clocks.cpu);
  return {std::max(none, all.wall - of_clocks.wall), std::max(caller, team.worker_busy()), kernel.device_seconds()};
}

}  // namespace poolcast::kernels
