// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// No library header here: a source compiled for AMX includes it.
namespace poolcast::kernels {

constexpr std::int64_t kTilePanel = 64;  // tokens of a packed panel of K and V
constexpr std::int64_t kTileRows = 16;   // query rows of a task

/// Up to 16 query rows against all packed panels of one KV head, bf16. Words are of 32 bits, two bf16; all tiles are 16
/// rows of 16 words without gaps.
struct TilePrefillTask {
  const std::uint32_t* q;     // [head_dim / 32][16 rows][16 words]; rows that there are not are zero
  std::int64_t rows;          // that there are
  const std::int64_t* seen;   // tokens that each of the 16 rows sees; never falling
  const std::uint32_t* k;     // panels of [head_dim / 32][4 times 16 tokens][16 words][16 tokens]
  const std::uint32_t* v;     // panels of [head_dim / 16][2 times 16 pairs][16 pairs][16 outputs]
  std::int64_t head_dim;      // a multiple of 32, up to 256
  std::uint16_t* const* out;  // of each row
};

void amx_prefill(const TilePrefillTask& task);

}  // namespace poolcast::kernels
