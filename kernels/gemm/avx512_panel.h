// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include "kernels/gemm/panels.h"

/// The loops of the AVX-512 panel product, for sources that are compiled for AVX-512. Everything here is local to the
/// including source and no library header is used: a function that the linker shares between sources could carry
/// AVX-512 code into the rest of the program.
namespace poolcast::kernels {
namespace {

constexpr int kRows = 6, kVectors = 4, kPanel = 16 * kVectors;  // 24 sums, 4 of B, 1 of A: 29 of 32 registers
constexpr std::int64_t kDepth = 256;  // words of one pass: 64 KiB of the panel, which stays in the second cache

/// R rows times a panel over `words` words. `Dot` has the instruction: step(sum, a, b) for 16 sums, store(...).
template <class Dot, int R>
inline void tile(const PanelTask& task, std::int64_t row, std::int64_t begin, std::int64_t end) {
  const std::uint32_t* a = task.a + row * task.row_words;
  std::uint32_t* sums = task.sums + row * kPanel;
  __m512i sum[R][kVectors];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = begin > 0    ? _mm512_loadu_si512(sums + r * kPanel + 16 * v)
                  : task.start ? _mm512_loadu_si512(task.start + 16 * v)
                               : _mm512_setzero_si512();
  const std::uint32_t* b = task.b + begin * kPanel;
  for (std::int64_t word = begin; word < end; ++word, b += kPanel) {
    __m512i column[kVectors];
    for (int v = 0; v < kVectors; ++v) column[v] = _mm512_loadu_si512(b + 16 * v);
    for (int r = 0; r < R; ++r) {
      const __m512i value = _mm512_set1_epi32(static_cast<int>(a[r * task.row_words + word]));
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Dot::step(sum[r][v], value, column[v]);
    }
  }
  if (end < task.words) {
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < kVectors; ++v) _mm512_storeu_si512(sums + r * kPanel + 16 * v, sum[r][v]);
    return;
  }
  for (int v = 0; v < kVectors; ++v) {
    const int columns = task.columns - 16 * v;
    if (columns <= 0) break;
    const auto mask = static_cast<__mmask16>(columns >= 16 ? 0xffff : (1 << columns) - 1);
    for (int r = 0; r < R; ++r)
      Dot::store(static_cast<typename Dot::Output*>(task.c) + (row + r) * task.row_elements + 16 * v, mask, sum[r][v]);
  }
}

template <class Dot>
inline void tiles(const PanelTask& task) {
  for (std::int64_t begin = 0; begin < task.words; begin += kDepth) {
    const std::int64_t end = begin + kDepth < task.words ? begin + kDepth : task.words;
    std::int64_t row = 0;
    for (; row + kRows <= task.rows; row += kRows) tile<Dot, kRows>(task, row, begin, end);
    switch (task.rows - row) {
      case 1:
        tile<Dot, 1>(task, row, begin, end);
        break;
      case 2:
        tile<Dot, 2>(task, row, begin, end);
        break;
      case 3:
        tile<Dot, 3>(task, row, begin, end);
        break;
      case 4:
        tile<Dot, 4>(task, row, begin, end);
        break;
      case 5:
        tile<Dot, 5>(task, row, begin, end);
        break;
      default:
        break;
    }
  }
}

}  // namespace
}  // namespace poolcast::kernels
