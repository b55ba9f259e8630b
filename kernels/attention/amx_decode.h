// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// No library header here: a source compiled for AMX includes it.
namespace poolcast::kernels {

constexpr std::int64_t kTileHeads = 16;  // query heads at once; more take turns, which reads K and V again

/// Up to 16 query heads of one KV head of one sequence, bf16.
struct TileDecodeTask {
  const std::uint32_t* q;  // [head_dim / 32][16 words][16 heads]; heads that there are not are zero
  std::uint16_t* out;      // [group][head_dim]
  std::int64_t group;      // up to 16
  const std::uint16_t* k;  // of the KV head in block 0
  const std::uint16_t* v;
  const std::int32_t* blocks;
  std::int64_t block_elements;  // from a block to the next
  std::int64_t block;           // tokens, a multiple of 16
  std::int64_t head_dim;        // a multiple of 32, up to 256
  std::int64_t total;           // tokens
};

void amx_decode(const TileDecodeTask& task);

}  // namespace poolcast::kernels
