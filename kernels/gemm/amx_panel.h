// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/bf16.h"
#include "kernels/gemm/panels.h"

/// The product by tiles: 32 x 32 sums in four tiles, two tiles of A and two of B, so that each loaded tile is used
/// twice. A template of the tile functions (amx/tiles.h), local to the including source like them.
///
/// Packed A: blocks of 16 rows, in each the tiles (16 rows x 16 words) along k. Packed panel: 32 columns, along k pairs
/// of tiles (16 words x 16 columns): every tile load reads 1 KiB without gaps.
namespace poolcast::kernels {
namespace {

constexpr std::int64_t kTileWords = 16, kTileElements = 16 * 16, kPanelColumns = 32;
/// Words of one pass: its part of a panel, 32 KiB, stays in the first cache while rows pass by; 8 of 9 loads and stores
/// of tiles are then of A and B.
constexpr std::int64_t kPassWords = 256;

struct TilePass {
  const std::uint32_t* b;  // the panel
  std::uint32_t* sums;     // of the panel, rows of 32
  std::int64_t begin, end;
};

/// 16 rows or 32 at `row` times a panel. `Multiply` is the format: tiles<sum, a, b>().
template <class Tiles, class Multiply, bool kTwo>
inline void tile_rows(const PanelTask& task, const TilePass& pass, std::int64_t row) {
  constexpr std::int64_t kSumBytes = kPanelColumns * 4;
  std::uint32_t* sums = pass.sums + row * kPanelColumns;
  if (pass.begin == 0) {
    Tiles::template zero<0>();
    Tiles::template zero<1>();
    if constexpr (kTwo) Tiles::template zero<2>();
    if constexpr (kTwo) Tiles::template zero<3>();
  } else {
    Tiles::template load<0>(sums, kSumBytes);
    Tiles::template load<1>(sums + 16, kSumBytes);
    if constexpr (kTwo) Tiles::template load<2>(sums + 16 * kPanelColumns, kSumBytes);
    if constexpr (kTwo) Tiles::template load<3>(sums + 16 * kPanelColumns + 16, kSumBytes);
  }
  const std::uint32_t* a = task.a + row * task.row_words;
  for (std::int64_t word = pass.begin; word < pass.end; word += kTileWords) {
    const std::uint32_t* b = pass.b + word * kPanelColumns;
    Tiles::template load<6>(b, 64);
    Tiles::template load<4>(a + word * 16, 64);
    Multiply::template tiles<Tiles, 0, 4, 6>();
    Tiles::template load<7>(b + kTileElements, 64);
    Multiply::template tiles<Tiles, 1, 4, 7>();
    if constexpr (kTwo) {
      Tiles::template load<5>(a + 16 * task.row_words + word * 16, 64);
      Multiply::template tiles<Tiles, 2, 5, 6>();
      Multiply::template tiles<Tiles, 3, 5, 7>();
    }
  }
  Tiles::template store<0>(sums, kSumBytes);
  Tiles::template store<1>(sums + 16, kSumBytes);
  if constexpr (kTwo) Tiles::template store<2>(sums + 16 * kPanelColumns, kSumBytes);
  if constexpr (kTwo) Tiles::template store<3>(sums + 16 * kPanelColumns + 16, kSumBytes);
}

/// Sums of `count` rows from `row` on to C.
template <class Multiply>
inline void write_rows(const PanelTask& task, const TilePass& pass, std::int64_t panel, std::int64_t row,
                       std::int64_t count) {
  using Output = typename Multiply::Output;
  const std::int64_t left = task.columns - panel * kPanelColumns;
  const std::int64_t columns = left < kPanelColumns ? left : kPanelColumns;
  for (std::int64_t r = row; r < row + count; ++r) {
    Output* c = static_cast<Output*>(task.c) + r * task.row_elements + panel * kPanelColumns;
    const std::uint32_t* sums = pass.sums + r * kPanelColumns;
    for (std::int64_t column = 0; column < columns; ++column) c[column] = Multiply::output(sums[column]);
  }
}

template <class Tiles, class Multiply>
inline void tile_panels(const PanelTask& task) {
  Tiles::begin();
  const std::int64_t padded_rows = (task.rows + 15) / 16 * 16;
  for (std::int64_t begin = 0; begin < task.words; begin += kPassWords)
    for (std::int64_t panel = 0; panel < task.panels; ++panel) {
      TilePass pass{};
      pass.b = task.b + panel * task.words * kPanelColumns;
      pass.sums = task.sums + panel * padded_rows * kPanelColumns;
      pass.begin = begin;
      pass.end = begin + kPassWords < task.words ? begin + kPassWords : task.words;
      for (std::int64_t row = 0; row < task.rows; row += 32) {
        const bool two = row + 16 < task.rows;
        two ? tile_rows<Tiles, Multiply, true>(task, pass, row) : tile_rows<Tiles, Multiply, false>(task, pass, row);
        const std::int64_t count = task.rows - row < 32 ? task.rows - row : 32;
        if (pass.end == task.words) write_rows<Multiply>(task, pass, panel, row, count);
      }
    }
  Tiles::end();
}

struct MultiplyBf16 {
  using Output = Bf16;
  static Bf16 output(std::uint32_t sum) { return to_bf16(__builtin_bit_cast(float, sum)); }
  template <class Tiles, int kSum, int kA, int kB>
  static void tiles() {
    Tiles::template multiply_bf16<kSum, kA, kB>();
  }
};

struct MultiplyInt8 {
  using Output = std::uint32_t;  // the bits of an int32
  static std::uint32_t output(std::uint32_t sum) { return sum; }
  template <class Tiles, int kSum, int kA, int kB>
  static void tiles() {
    Tiles::template multiply_int8<kSum, kA, kB>();
  }
};

}  // namespace
}  // namespace poolcast::kernels
