// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/units.h"

namespace poolcast::cuda {

/// A ceiling measured on device 0, by events, over all multiprocessors; best of several passes, data never zero.
struct ComputePeak {
  std::string name;  // "fma fp32", "mma bf16", "mma int8", "wgmma bf16", "wgmma int8", "tcgen05 bf16"
  FlopsPerSecond rate;
};
/// Loops whose operands stay in registers (fma, mma) or in a few tiles of shared memory (wgmma, tcgen05: that is where
/// the instruction reads them). Those that this device and this build have; about 0.1 s each.
std::vector<ComputePeak> measure_compute_peaks();

struct MemoryPeak {
  std::string name;     // "read", "copy"
  BytesPerSecond rate;  // copy counts what is read and what is written
};
/// Over arrays of 2 GiB, or an eighth of the device's memory.
std::vector<MemoryPeak> measure_memory_peaks();

}  // namespace poolcast::cuda
