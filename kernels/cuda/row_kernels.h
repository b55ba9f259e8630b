// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::cuda {

/// Softmax, cross-entropy, RMSNorm and rotary: cuda_portable.
std::span<const kernels::Kernel> row_kernels();

}  // namespace poolcast::cuda
