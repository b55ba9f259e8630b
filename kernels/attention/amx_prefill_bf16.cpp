// SPDX-License-Identifier: Apache-2.0
#include "kernels/amx/tiles.h"
#include "kernels/attention/amx_prefill.h"
#include "kernels/attention/amx_prefill_tiles.h"

namespace poolcast::kernels {

void amx_prefill(const TilePrefillTask& task) { tile_prefill<AmxTiles>(task); }

}  // namespace poolcast::kernels
