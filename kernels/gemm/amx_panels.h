// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/gemm/panels.h"

namespace poolcast::kernels {

// In the layout of amx_panel.h, each in a source compiled for its instructions.
void amx_bf16_panel(const PanelTask& task);  // AMX-BF16: tdpbf16ps
void amx_int8_panel(const PanelTask& task);  // AMX-INT8: tdpbssd

}  // namespace poolcast::kernels
