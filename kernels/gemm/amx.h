// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/gemm/panels.h"
#include "kernels/problem.h"

namespace poolcast::kernels {

/// Panels of the product by tiles, in bf16 or int8.
PanelFormat amx_panels(DType dtype);

}  // namespace poolcast::kernels
