// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/gemm/panels.h"

namespace poolcast::kernels {

// A packed row is a row; a panel has 64 columns, word after word. Each in a source compiled for its instructions.
void avx512_fp32_panel(const PanelTask& task);  // AVX512F: fused multiply-add
void avx512_bf16_panel(const PanelTask& task);  // AVX512-BF16: vdpbf16ps
void avx512_int8_panel(const PanelTask& task);  // AVX512-VNNI: vpdpbusd, rows unsigned

}  // namespace poolcast::kernels
