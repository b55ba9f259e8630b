// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/kernel.h"
#include "kernels/threads.h"
#include "models/units.h"

namespace poolcast::kernels {

/// Steady clock, since some fixed moment.
Seconds wall_now();

/// CPU time of the calling thread (CLOCK_THREAD_CPUTIME_ID).
Seconds thread_cpu_now();

/// CPU time of all threads of the process (CLOCK_PROCESS_CPUTIME_ID).
Seconds process_cpu_now();

/// How long one run took, by each clock.
struct RunTime {
  Seconds wall;
  /// CPU time, maximum over the threads that worked: what the run takes on a machine that nobody else uses. Of a device
  /// it is only the host's part.
  Seconds cpu;
  std::optional<Seconds> device;  // PreparedKernel::device_seconds
};

/// Runs the kernel once. What reading the clocks takes (about 1 us, as much as the rows of a decode) is taken off.
RunTime time_run(PreparedKernel& kernel, Team& team);

}  // namespace poolcast::kernels
