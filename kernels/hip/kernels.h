// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/device_facts.h"
#include "kernels/kernel.h"
#include "kernels/registry.h"

namespace poolcast::hip {

/// Every HIP kernel of this build; none where it was built without hipcc, which absent_hip then says.
std::span<const kernels::Kernel> hip_kernels();
std::span<const kernels::AbsentPart> absent_hip();

/// Of device 0; its peaks are not measured. Only where a kernel can run.
kernels::DeviceFacts facts();

}  // namespace poolcast::hip
