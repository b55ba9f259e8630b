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

}  // namespace

Seconds wall_now() { return now(CLOCK_MONOTONIC); }
Seconds thread_cpu_now() { return now(CLOCK_THREAD_CPUTIME_ID); }
Seconds process_cpu_now() { return now(CLOCK_PROCESS_CPUTIME_ID); }

RunTime time_run(PreparedKernel& kernel, Team& team) {
  team.reset_busy();
  const Seconds wall = wall_now();
  const Seconds cpu = thread_cpu_now();
  kernel.run();
  const Seconds caller = thread_cpu_now() - cpu;
  return {wall_now() - wall, std::max(caller, team.worker_busy()), kernel.device_seconds()};
}

}  // namespace poolcast::kernels
