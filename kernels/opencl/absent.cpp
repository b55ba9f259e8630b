// SPDX-License-Identifier: Apache-2.0
#include "kernels/opencl/opencl.h"

namespace poolcast::kernels {

std::span<const Kernel> opencl_kernels() { return {}; }
std::string_view why_no_opencl() {
  return "built without OpenCL (Debian packages ocl-icd-opencl-dev, opencl-c-headers)";
}
std::string opencl_device_name() { return ""; }
bool opencl_on_cpu() { return false; }
bool opencl_on_one_cpu() { return false; }
OpenClPeaks measure_opencl_peaks() { return {}; }

}  // namespace poolcast::kernels
