// SPDX-License-Identifier: Apache-2.0
#include "kernels/amx/tiles.h"
#include "kernels/attention/amx_decode.h"
#include "kernels/attention/amx_decode_tiles.h"

namespace poolcast::kernels {

void amx_decode(const TileDecodeTask& task) { tile_decode<AmxTiles>(task); }

}  // namespace poolcast::kernels
