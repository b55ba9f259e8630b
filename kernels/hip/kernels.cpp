// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/kernels.h"

#include <vector>

#include "kernels/hip/device.h"
#include "kernels/hip/matrix_kernels.h"
#include "kernels/hip/portable_kernels.h"

namespace poolcast::hip {

std::span<const kernels::Kernel> hip_kernels() {
  static const std::vector<kernels::Kernel> all = [] {
    std::vector<kernels::Kernel> gathered;
    for (const auto table : {matrix_kernels, portable_kernels})
      gathered.insert(gathered.end(), table().begin(), table().end());
    return gathered;
  }();
  return all;
}

std::span<const kernels::AbsentPart> absent_hip() { return {}; }

kernels::DeviceFacts facts() {
  kernels::DeviceFacts f;
  f.name = device().name + ", " + device().architecture;
  f.runtime = "HIP";
  f.compiler = "hipcc";
  return f;
}

}  // namespace poolcast::hip
