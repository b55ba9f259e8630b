// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/amx.h"

#include <cstring>

#include "kernels/gemm/amx_panels.h"
#include "kernels/gemm/panel_weight.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kTileRows = 16, kTileWords = 16, kTile = kTileRows * kTileWords;

/// Into its line of each tile of its block of rows.
void pack_row(const void* from, std::int64_t bytes, std::int64_t row, std::int64_t row_words, std::uint32_t* packed) {
  std::uint32_t* line = packed + row / kTileRows * kTileRows * row_words + row % kTileRows * kTileWords;
  const auto* in = static_cast<const char*>(from);
  for (std::int64_t word = 0; word < row_words; word += kTileWords, line += kTile) {
    const std::int64_t left = bytes - 4 * word;
    const std::int64_t count = left < 0 ? 0 : left < 64 ? left : 64;
    std::memcpy(line, in + 4 * word, static_cast<std::size_t>(count));
    std::memset(reinterpret_cast<char*>(line) + count, 0, static_cast<std::size_t>(64 - count));
  }
}

std::int64_t in_tile_pairs(std::int64_t word, std::int64_t column) {
  return (word / kTileWords * 2 + column / 16) * kTile + word % kTileWords * 16 + column % 16;
}

}  // namespace

PanelFormat amx_panels(DType dtype) {
  PanelFormat format{};
  format.panel_columns = 32;
  format.row_block = 16;
  format.word_multiple = kTileWords;
  format.task_rows = 512;  // a pass reads 512 KiB of A and 256 KiB of B, with 512 KiB of sums
  format.task_panels = 8;
  format.pack_row = pack_row;
  format.panel_index = in_tile_pairs;
  format.multiply = dtype == DType::kBf16 ? amx_bf16_panel : amx_int8_panel;
  format.unsigned_rows = false;
  return format;
}

std::unique_ptr<Weight> amx_weight(const WeightShape& shape, const void* b, Memory& memory) {
  return std::make_unique<PanelWeight>(shape, amx_panels(shape.dtype), b, memory);
}

}  // namespace poolcast::kernels
