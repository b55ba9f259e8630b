// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/device_facts.h"
#include "kernels/kernel.h"
#include "kernels/registry.h"

namespace poolcast::cuda {

/// Every CUDA kernel of this build; none where it was built without nvcc, which absent_cuda then says.
std::span<const kernels::Kernel> cuda_kernels();
std::span<const kernels::AbsentPart> absent_cuda();

/// Of device 0, its peaks measured (a few seconds) if they are asked for. Only where a kernel can run.
kernels::DeviceFacts facts(bool peaks);

}  // namespace poolcast::cuda
