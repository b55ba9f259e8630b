// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/kernels.h"

// In place of everything else here where HIP is not built.
namespace poolcast::hip {

std::span<const kernels::Kernel> hip_kernels() { return {}; }
kernels::DeviceFacts facts() { return {}; }

std::span<const kernels::AbsentPart> absent_hip() {
  static constexpr kernels::AbsentPart kPart[] = {{"hip_cdna", "built without HIP: " POOLCAST_HIP_MISSING}};
  return kPart;
}

}  // namespace poolcast::hip
