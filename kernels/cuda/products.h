// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::cuda {

/// GEMM and grouped GEMM: cuda_portable, cublas, cuda_hopper, cuda_blackwell.
std::span<const kernels::Kernel> product_kernels();

}  // namespace poolcast::cuda
