// SPDX-License-Identifier: Apache-2.0
#include "kernels/amx/tiles.h"
#include "kernels/peaks/loops.h"

namespace poolcast::kernels {

double peak_amx_bf16(std::int64_t rounds) {
  alignas(64) std::uint32_t ones[16 * 16];
  for (std::uint32_t& word : ones) word = 0x3f803f80u;
  AmxTiles::begin();
  AmxTiles::load<4>(ones, 64);
  AmxTiles::load<5>(ones, 64);
  AmxTiles::load<6>(ones, 64);
  AmxTiles::load<7>(ones, 64);
  for (std::int64_t round = 0; round < rounds; ++round) {
    AmxTiles::multiply_bf16<0, 4, 6>();
    AmxTiles::multiply_bf16<1, 4, 7>();
    AmxTiles::multiply_bf16<2, 5, 6>();
    AmxTiles::multiply_bf16<3, 5, 7>();
  }
  AmxTiles::end();
  return static_cast<double>(rounds) * 4 * 16 * 16 * 32 * 2;
}

}  // namespace poolcast::kernels
