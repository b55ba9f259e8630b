// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/kernel.h"
#include "models/units.h"

namespace poolcast::kernels {

/// The generic kernels that any vendor's OpenCL compiles; none where the build has no OpenCL (absent.cpp).
std::span<const Kernel> opencl_kernels();

/// Empty, or why the build has none. Whether a device is there is asked at run time, by Kernel::why_not.
std::string_view why_no_opencl();

/// The first GPU, else the first device: "name (platform)"; empty where there is none.
std::string opencl_device_name();

/// Whether that device is this machine's CPU.
bool opencl_on_cpu();

/// Whether that device is a single CPU (of PoCL: POCL_MAX_PTHREAD_COUNT=1): then no launch takes more than the
/// process's CPU time, whoever else uses the machine.
bool opencl_on_one_cpu();

struct OpenClPeaks {
  FlopsPerSecond fp32{0};     // of multiply-adds in registers; bf16 is computed in fp32, too
  BytesPerSecond reading{0};  // in order, 256 MiB
};
/// Measured on that device, about a second; zeros where there is none.
OpenClPeaks measure_opencl_peaks();

}  // namespace poolcast::kernels
