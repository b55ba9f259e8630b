// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::cuda {

/// Copies of KV blocks, and all-reduce over as many devices as there are ranks: cuda_portable.
std::span<const kernels::Kernel> move_kernels();

}  // namespace poolcast::cuda
