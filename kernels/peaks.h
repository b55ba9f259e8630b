// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/problem.h"
#include "kernels/threads.h"
#include "models/units.h"

namespace poolcast::kernels {

/// A ceiling that was measured here, on all threads of the team together; rates are by the CPU clock.
struct ComputePeak {
  std::string name;  // "avx512 fma fp32", "vdpbf16ps", "vpdpbusd", "amx bf16", "amx int8", "sse fp32"
  FlopsPerSecond rate;
};
/// Register-resident loops of every instruction that this CPU has: no memory is touched. About 0.05 s each.
std::vector<ComputePeak> measure_compute_peaks(Team& team);

struct MemoryPeak {
  std::string name;     // "read", "copy", "read 4 KiB blocks"
  BytesPerSecond rate;  // copy counts what is read and what is written
};
/// In order and, as attention reads a paged cache, in blocks of 4 KiB that lie anywhere. Over arrays of at least four
/// times the last cache. About 1 s. Best of several passes.
std::vector<MemoryPeak> measure_memory_peaks(Team& team);

/// The rate to hold a step's operations against: of reading, in whatever order is faster. Nearly all of their bytes are
/// read once; copies pass it, because what is written takes another way (50 GB/s together where 31 are read).
BytesPerSecond reading_peak(const std::vector<MemoryPeak>& peaks);

/// The peak to hold a kernel against: the fastest one in the format (bf16: amx bf16, else vdpbf16ps, else fp32).
FlopsPerSecond compute_peak_for(const std::vector<ComputePeak>& peaks, DType dtype);

}  // namespace poolcast::kernels
