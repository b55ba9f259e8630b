// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/product.h"

namespace poolcast::cuda {

/// Empty where cuBLAS can be used; otherwise why not. The library is loaded at run time (libcublas.so.13), so that
/// neither building nor starting needs it.
const std::string& why_no_cublas();

/// The vendor's library: cublasGemmEx, once for each group that has rows (`host_offsets` is product.offsets on the
/// host). bf16, fp32 (not TF32) and int8 (n and k multiples of 4).
void launch_cublas(const Product& product, const std::vector<int>& host_offsets, Stream stream);

}  // namespace poolcast::cuda
