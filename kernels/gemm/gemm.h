// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace poolcast::kernels {

/// The CPU's implementations of Operation::kGemm.
std::span<const Kernel> gemm_kernels();

/// Why a format cannot be multiplied here by avx512 and amx.
std::string why_no_avx512_product(DType dtype);
std::string why_no_amx_product(DType dtype);

}  // namespace poolcast::kernels
