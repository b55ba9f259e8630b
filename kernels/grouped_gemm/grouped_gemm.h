// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::kernels {

/// The CPU's implementations of Operation::kGroupedGemm.
std::span<const Kernel> grouped_gemm_kernels();

}  // namespace poolcast::kernels
