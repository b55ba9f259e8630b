// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include "kernels/gemm/panels.h"
#include "kernels/repeat.h"

/// The loops of the AVX-512 panel product, for sources that are compiled for AVX-512. Everything here is local to the
/// including source and no library header is used: a function that the linker shares between sources could carry
/// AVX-512 code into the rest of the program.
namespace poolcast::kernels {
namespace {

constexpr int kRows = 6, kVectors = 4, kPanel = 16 * kVectors;  // 24 sums, 4 of B, 1 of A: 29 of 32 registers
constexpr std::int64_t kDepth = 256;  // words of one pass: 64 KiB of the panel, which stays in the second cache

/// R rows times one panel over the words from `begin` to `end`.
struct Pass {
  const std::uint32_t* b;     // the panel
  std::uint32_t* sums;        // of the panel, row after row
  const std::int32_t* start;  // or nullptr
  char* c;                    // first output of the panel
  std::int64_t columns;       // that C has in the panel
  std::int64_t begin, end;
};

/// `Dot` has the instruction: step(sum, a, b) for 16 sums, and store(c, mask, sum).
template <class Dot, int R>
inline void tile(const PanelTask& task, const Pass& pass, std::int64_t row) {
  const std::uint32_t* a = task.a + row * task.row_words;
  std::uint32_t* sums = pass.sums + row * kPanel;
  __m512i sum[R][kVectors];
  repeat<R>([&](auto r) {
    repeat<kVectors>([&](auto v) {
      sum[r][v] = pass.begin > 0 ? _mm512_loadu_si512(sums + r * kPanel + 16 * v)
                  : pass.start   ? _mm512_loadu_si512(pass.start + 16 * v)
                                 : _mm512_setzero_si512();
    });
  });
  const std::uint32_t* b = pass.b + pass.begin * kPanel;
  for (std::int64_t word = pass.begin; word < pass.end; ++word, b += kPanel) {
    __m512i column[kVectors];
    repeat<kVectors>([&](auto v) { column[v] = _mm512_loadu_si512(b + 16 * v); });
    repeat<R>([&](auto r) {
      const __m512i value = _mm512_set1_epi32(static_cast<int>(a[r * task.row_words + word]));
      repeat<kVectors>([&](auto v) { sum[r][v] = Dot::step(sum[r][v], value, column[v]); });
    });
  }
  if (pass.end < task.words) {
    repeat<R>(
        [&](auto r) { repeat<kVectors>([&](auto v) { _mm512_storeu_si512(sums + r * kPanel + 16 * v, sum[r][v]); }); });
    return;
  }
  repeat<kVectors>([&](auto v) {
    const std::int64_t columns = pass.columns - 16 * v;
    if (columns <= 0) return;
    const auto mask = static_cast<__mmask16>(columns >= 16 ? 0xffff : (1 << columns) - 1);
    auto* c = reinterpret_cast<typename Dot::Output*>(pass.c) + row * task.row_elements + 16 * v;
    repeat<R>([&](auto r) { Dot::store(c + r * task.row_elements, mask, sum[r][v]); });
  });
}

template <class Dot>
inline void all_rows(const PanelTask& task, const Pass& pass) {
  std::int64_t row = 0;
  for (; row + kRows <= task.rows; row += kRows) tile<Dot, kRows>(task, pass, row);
  switch (task.rows - row) {
    case 1:
      tile<Dot, 1>(task, pass, row);
      break;
    case 2:
      tile<Dot, 2>(task, pass, row);
      break;
    case 3:
      tile<Dot, 3>(task, pass, row);
      break;
    case 4:
      tile<Dot, 4>(task, pass, row);
      break;
    case 5:
      tile<Dot, 5>(task, pass, row);
      break;
    default:
      break;
  }
}

template <class Dot>
inline void all_passes(const PanelTask& task) {
  for (std::int64_t begin = 0; begin < task.words; begin += kDepth)
    for (std::int64_t panel = 0; panel < task.panels; ++panel) {
      Pass pass{};
      pass.b = task.b + panel * task.words * kPanel;
      pass.sums = task.sums + panel * task.rows * kPanel;
      pass.start = task.start ? task.start + panel * kPanel : nullptr;
      pass.c = static_cast<char*>(task.c) + panel * kPanel * static_cast<std::int64_t>(sizeof(typename Dot::Output));
      pass.columns = task.columns - panel * kPanel;
      pass.begin = begin;
      pass.end = begin + kDepth < task.words ? begin + kDepth : task.words;
      all_rows<Dot>(task, pass);
    }
}

}  // namespace
}  // namespace poolcast::kernels
