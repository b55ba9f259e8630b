// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/gemm/panels.h"
#include "kernels/problem.h"

namespace poolcast::kernels {

/// Panels of the AVX-512 product in a format.
PanelFormat avx512_panels(DType dtype);

}  // namespace poolcast::kernels
