// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/attention/avx512_prefill.h"
#include "kernels/avx512_math.h"
#include "kernels/repeat.h"

namespace poolcast::kernels {
namespace {

constexpr int kRows = 6, kVectors = 4;  // 24 sums at once, as in gemm/avx512_panel.h

struct Panel {
  const std::uint32_t* k;
  const std::uint32_t* v;
  std::int64_t first;  // token
};

float* state_of(const PrefillTask& task, std::int64_t row) { return task.state + row * (task.head_dim + 32); }

__m512 dot(__m512 sum, __m512i a, __m512i b) { return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b); }

/// Scores of R rows with the panel become weights (bf16, two tokens to a word); what the row has summed before is to be
/// scaled by `shrink`.
template <int R>
inline void weigh(const PrefillTask& task, const Panel& panel, std::int64_t row, std::uint32_t (&weights)[R][32],
                  float (&shrink)[R]) {
  const std::int64_t words = task.head_dim / 2;
  const std::uint32_t* q = task.q + row * words;
  __m512 sum[R][kVectors];
  repeat<R>([&](auto r) { repeat<kVectors>([&](auto v) { sum[r][v] = _mm512_setzero_ps(); }); });
  const std::uint32_t* k = panel.k;
  for (std::int64_t word = 0; word < words; ++word, k += kPrefillPanel) {
    __m512i key[kVectors];
    repeat<kVectors>([&](auto v) { key[v] = _mm512_loadu_si512(k + 16 * v); });
    repeat<R>([&](auto r) {
      const __m512i query = _mm512_set1_epi32(static_cast<int>(q[r * words + word]));
      repeat<kVectors>([&](auto v) { sum[r][v] = dot(sum[r][v], query, key[v]); });
    });
  }
  const __m512 scale = _mm512_set1_ps(kLog2E / __builtin_sqrtf(static_cast<float>(task.head_dim)));
  repeat<R>([&](auto r) {
    float* total = state_of(task, row + r) + task.head_dim;
    float& before = total[16];
    const std::int64_t there = task.seen[row + r] - panel.first;
    __m512 most = _mm512_set1_ps(before);
    repeat<kVectors>([&](auto v) {
      sum[r][v] = _mm512_mask_mul_ps(_mm512_set1_ps(-__builtin_inff()), first_of_16(there - 16 * v), sum[r][v], scale);
      most = _mm512_max_ps(most, sum[r][v]);
    });
    const float greatest = _mm512_reduce_max_ps(most);
    const __m512 all = _mm512_set1_ps(greatest);
    const __m512 less = exp2_of(_mm512_sub_ps(_mm512_set1_ps(before), all));
    before = greatest;
    shrink[r] = _mm512_cvtss_f32(less);
    __m512 sums = _mm512_mul_ps(_mm512_loadu_ps(total), less);
    repeat<kVectors>([&](auto v) {
      const __m512 weight = exp2_of(_mm512_sub_ps(sum[r][v], all));
      sums = _mm512_add_ps(sums, weight);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(weights[r] + 8 * v), (__m256i)_mm512_cvtneps_pbh(weight));
    });
    _mm512_storeu_ps(total, sums);
  });
}

/// 16 V outputs from `column` on.
template <int R, int V>
inline void add_values(const PrefillTask& task, const Panel& panel, std::int64_t row, std::int64_t column,
                       std::int64_t pairs, const std::uint32_t (&weights)[R][32], const float (&shrink)[R]) {
  __m512 sum[R][V];
  repeat<R>([&](auto r) {
    const float* sums = state_of(task, row + r) + column;
    repeat<V>([&](auto v) { sum[r][v] = _mm512_mul_ps(_mm512_loadu_ps(sums + 16 * v), _mm512_set1_ps(shrink[r])); });
  });
  const std::uint32_t* values = panel.v + column;
  for (std::int64_t pair = 0; pair < pairs; ++pair, values += task.head_dim) {
    __m512i value[V];
    repeat<V>([&](auto v) { value[v] = _mm512_loadu_si512(values + 16 * v); });
    repeat<R>([&](auto r) {
      const __m512i weight = _mm512_set1_epi32(static_cast<int>(weights[r][pair]));
      repeat<V>([&](auto v) { sum[r][v] = dot(sum[r][v], weight, value[v]); });
    });
  }
  repeat<R>([&](auto r) {
    float* sums = state_of(task, row + r) + column;
    repeat<V>([&](auto v) { _mm512_storeu_ps(sums + 16 * v, sum[r][v]); });
  });
}

template <int R>
void add_panel(const PrefillTask& task, const Panel& panel, std::int64_t row) {
  const std::int64_t there = task.seen[row + R - 1] - panel.first;  // of the last row, which sees most
  if (there <= 0) return;
  alignas(64) std::uint32_t weights[R][32];
  float shrink[R];
  weigh<R>(task, panel, row, weights, shrink);
  const std::int64_t pairs = there >= kPrefillPanel ? 32 : (there + 1) / 2;
  std::int64_t column = 0;
  for (; column + 64 <= task.head_dim; column += 64) add_values<R, 4>(task, panel, row, column, pairs, weights, shrink);
  if (column < task.head_dim) add_values<R, 2>(task, panel, row, column, pairs, weights, shrink);
}

void add_panel(const PrefillTask& task, const Panel& panel) {
  std::int64_t row = 0;
  for (; row + kRows <= task.rows; row += kRows) add_panel<kRows>(task, panel, row);
  switch (task.rows - row) {
    case 1:
      return add_panel<1>(task, panel, row);
    case 2:
      return add_panel<2>(task, panel, row);
    case 3:
      return add_panel<3>(task, panel, row);
    case 4:
      return add_panel<4>(task, panel, row);
    case 5:
      return add_panel<5>(task, panel, row);
    default:
      return;
  }
}

void write(const PrefillTask& task, std::int64_t row) {
  const float* sums = state_of(task, row);
  const __m512 factor = _mm512_set1_ps(1 / _mm512_reduce_add_ps(_mm512_loadu_ps(sums + task.head_dim)));
  for (std::int64_t d = 0; d < task.head_dim; d += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(task.out[row] + d),
                        (__m256i)_mm512_cvtneps_pbh(_mm512_mul_ps(_mm512_loadu_ps(sums + d), factor)));
}

}  // namespace

void avx512_prefill(const PrefillTask& task) {
  for (std::int64_t row = 0; row < task.rows; ++row) {
    float* state = state_of(task, row);
    for (std::int64_t i = 0; i < task.head_dim + 16; ++i) state[i] = 0;
    state[task.head_dim + 16] = -__builtin_inff();
  }
  const std::int64_t panel_words = task.head_dim / 2 * kPrefillPanel;
  for (std::int64_t first = 0; first < task.seen[task.rows - 1]; first += kPrefillPanel) {
    const std::int64_t offset = first / kPrefillPanel * panel_words;
    add_panel(task, {task.k + offset, task.v + offset, first});
  }
  for (std::int64_t row = 0; row < task.rows; ++row) write(task, row);
}

}  // namespace poolcast::kernels
