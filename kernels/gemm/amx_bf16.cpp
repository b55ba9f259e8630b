// SPDX-License-Identifier: Apache-2.0
#include "kernels/amx/tiles.h"
#include "kernels/gemm/amx_panel.h"
#include "kernels/gemm/amx_panels.h"

namespace poolcast::kernels {

void amx_bf16_panel(const PanelTask& task) { tile_panels<AmxTiles, MultiplyBf16>(task); }

}  // namespace poolcast::kernels
