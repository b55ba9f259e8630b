// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"
#include "kernels/registry.h"

namespace poolcast::cuda {

/// Every CUDA kernel of this build; none where it was built without nvcc, which absent_cuda then says.
std::span<const kernels::Kernel> cuda_kernels();
std::span<const kernels::AbsentPart> absent_cuda();

}  // namespace poolcast::cuda
