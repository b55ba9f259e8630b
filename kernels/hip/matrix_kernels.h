// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::hip {

/// GEMM and attention on matrix instructions: rows of `hip_cdna`.
std::span<const kernels::Kernel> matrix_kernels();

}  // namespace poolcast::hip
