// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/avx512_math.h"
#include "kernels/rows/row_task.h"

namespace poolcast::kernels {
namespace {

struct Fp32 {
  using Element = float;
  static __m512 load(const float* from, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, from); }
  static void store(float* to, __mmask16 mask, __m512 x) { _mm512_mask_storeu_ps(to, mask, x); }
};

struct Bf16Bits {
  using Element = std::uint16_t;
  static __m512 load(const std::uint16_t* from, __mmask16 mask) {
    return from_bf16(_mm256_maskz_loadu_epi16(mask, from));
  }
  /// To nearest, ties to even, by integers: AVX512F alone has no instruction for it.
  static void store(std::uint16_t* to, __mmask16 mask, __m512 x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    _mm256_mask_storeu_epi16(to, mask, _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
  }
};

template <class Format>
const typename Format::Element* row_of(const RowTask& task, std::int64_t row) {
  return static_cast<const typename Format::Element*>(task.in) + row * task.columns;
}

template <class Format>
typename Format::Element* out_of(const RowTask& task, std::int64_t row) {
  return static_cast<typename Format::Element*>(task.out) + row * task.columns;
}

template <class Format>
__m512 greatest(const typename Format::Element* x, std::int64_t columns) {
  __m512 most[2] = {_mm512_set1_ps(-__builtin_inff()), _mm512_set1_ps(-__builtin_inff())};
  for (std::int64_t i = 0; i < columns; i += 32)
    repeat<2>([&](auto v) {
      const __mmask16 mask = first_of_16(columns - i - 16 * v);
      most[v] = _mm512_mask_max_ps(most[v], mask, most[v], Format::load(x + i + 16 * v, mask));
    });
  return _mm512_set1_ps(_mm512_reduce_max_ps(_mm512_max_ps(most[0], most[1])));
}

/// The sum of e^(x - most); the powers go to `powers` where it is given.
template <class Format>
float sum_of_powers(const typename Format::Element* x, std::int64_t columns, __m512 most, float* powers) {
  __m512 sum[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (std::int64_t i = 0; i < columns; i += 32)
    repeat<2>([&](auto v) {
      const __mmask16 mask = first_of_16(columns - i - 16 * v);
      const __m512 less = _mm512_sub_ps(Format::load(x + i + 16 * v, mask), most);
      const __m512 power = exp2_of(_mm512_mul_ps(less, _mm512_set1_ps(kLog2E)));
      sum[v] = _mm512_mask_add_ps(sum[v], mask, sum[v], power);
      if (powers) _mm512_mask_storeu_ps(powers + i + 16 * v, mask, power);
    });
  return _mm512_reduce_add_ps(_mm512_add_ps(sum[0], sum[1]));
}

template <class Format>
void softmax(const RowTask& task, std::int64_t row, float* powers) {
  const auto* x = row_of<Format>(task, row);
  const float sum = sum_of_powers<Format>(x, task.columns, greatest<Format>(x, task.columns), powers);
  const __m512 scale = _mm512_set1_ps(1 / sum);
  auto* out = out_of<Format>(task, row);
  for (std::int64_t i = 0; i < task.columns; i += 16) {
    const __mmask16 mask = first_of_16(task.columns - i);
    Format::store(out + i, mask, _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, powers + i), scale));
  }
}

template <class Format>
void cross_entropy(const RowTask& task, std::int64_t row) {
  const auto* x = row_of<Format>(task, row);
  const __m512 most = greatest<Format>(x, task.columns);
  const float sum = sum_of_powers<Format>(x, task.columns, most, nullptr);
  const float label = _mm512_cvtss_f32(Format::load(x + task.labels[row], 1));
  static_cast<float*>(task.out)[row] = __builtin_logf(sum) + _mm512_cvtss_f32(most) - label;
}

template <class Format>
void rms_norm(const RowTask& task, std::int64_t row) {
  const auto* x = row_of<Format>(task, row);
  const auto* weight = static_cast<const typename Format::Element*>(task.weight);
  __m512 squares[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (std::int64_t i = 0; i < task.columns; i += 32)
    repeat<2>([&](auto v) {
      const __m512 value = Format::load(x + i + 16 * v, first_of_16(task.columns - i - 16 * v));
      squares[v] = _mm512_fmadd_ps(value, value, squares[v]);
    });
  const float mean = _mm512_reduce_add_ps(_mm512_add_ps(squares[0], squares[1])) / static_cast<float>(task.columns);
  const __m512 scale = _mm512_set1_ps(1 / __builtin_sqrtf(mean + kRmsEpsilon));
  auto* out = out_of<Format>(task, row);
  for (std::int64_t i = 0; i < task.columns; i += 16) {
    const __mmask16 mask = first_of_16(task.columns - i);
    const __m512 value = _mm512_mul_ps(Format::load(x + i, mask), scale);
    Format::store(out + i, mask, _mm512_mul_ps(value, Format::load(weight + i, mask)));
  }
}

template <class Format>
void silu_gate(const RowTask& task, std::int64_t row) {
  const auto* gates = static_cast<const typename Format::Element*>(task.in) + 2 * row * task.columns;
  auto* out = out_of<Format>(task, row);
  const __m512 one = _mm512_set1_ps(1.0f);
  for (std::int64_t i = 0; i < task.columns; i += 16) {
    const __mmask16 mask = first_of_16(task.columns - i);
    const __m512 x = Format::load(gates + i, mask), up = Format::load(gates + task.columns + i, mask);
    // e^-x is finite for x above -88; below, the gate is closed.
    const __m512 power = exp2_of(_mm512_min_ps(_mm512_mul_ps(x, _mm512_set1_ps(-kLog2E)), _mm512_set1_ps(126.0f)));
    Format::store(out + i, mask, _mm512_div_ps(_mm512_mul_ps(x, up), _mm512_add_ps(one, power)));
  }
}

template <class Format>
void residual_add(const RowTask& task, std::int64_t row) {
  const auto* x = row_of<Format>(task, row);
  const auto* y = static_cast<const typename Format::Element*>(task.addend) + row * task.columns;
  auto* out = out_of<Format>(task, row);
  for (std::int64_t i = 0; i < task.columns; i += 16) {
    const __mmask16 mask = first_of_16(task.columns - i);
    Format::store(out + i, mask, _mm512_add_ps(Format::load(x + i, mask), Format::load(y + i, mask)));
  }
}

template <class Format>
void rotary(const RotaryTask& task, std::int64_t token) {
  const std::int64_t half = task.head_dim / 2;
  const float* turns = task.turns + token * half * 2;
  const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
  for (std::int64_t i = 0; i < half; i += 16) {
    const __mmask16 mask = first_of_16(half - i);
    const __m512 low = _mm512_maskz_loadu_ps(first_of_16(2 * (half - i)), turns + 2 * i);
    const __m512 high = _mm512_maskz_loadu_ps(first_of_16(2 * (half - i) - 16), turns + 2 * i + 16);
    const __m512 cosine = _mm512_permutex2var_ps(low, evens, high), sine = _mm512_permutex2var_ps(low, odds, high);
    for (std::int64_t head = 0; head < task.heads; ++head) {
      const std::int64_t at = (token * task.heads + head) * task.head_dim + i;
      const auto* x =
          static_cast<const typename Format::Element*>(task.in) + token * task.in_stride + head * task.head_dim + i;
      auto* out = static_cast<typename Format::Element*>(task.out) + at;
      const __m512 a = Format::load(x, mask), b = Format::load(x + half, mask);
      Format::store(out, mask, _mm512_fnmadd_ps(b, sine, _mm512_mul_ps(a, cosine)));
      Format::store(out + half, mask, _mm512_fmadd_ps(a, sine, _mm512_mul_ps(b, cosine)));
    }
  }
}

}  // namespace

void avx512_softmax(const RowTask& task, std::int64_t first, std::int64_t end, float* scratch) {
  for (std::int64_t row = first; row < end; ++row)
    task.bf16 ? softmax<Bf16Bits>(task, row, scratch) : softmax<Fp32>(task, row, scratch);
}

void avx512_cross_entropy(const RowTask& task, std::int64_t first, std::int64_t end) {
  for (std::int64_t row = first; row < end; ++row)
    task.bf16 ? cross_entropy<Bf16Bits>(task, row) : cross_entropy<Fp32>(task, row);
}

void avx512_rms_norm(const RowTask& task, std::int64_t first, std::int64_t end) {
  for (std::int64_t row = first; row < end; ++row)
    task.bf16 ? rms_norm<Bf16Bits>(task, row) : rms_norm<Fp32>(task, row);
}

void avx512_silu_gate(const RowTask& task, std::int64_t first, std::int64_t end) {
  for (std::int64_t row = first; row < end; ++row)
    task.bf16 ? silu_gate<Bf16Bits>(task, row) : silu_gate<Fp32>(task, row);
}

void avx512_residual_add(const RowTask& task, std::int64_t first, std::int64_t end) {
  for (std::int64_t row = first; row < end; ++row)
    task.bf16 ? residual_add<Bf16Bits>(task, row) : residual_add<Fp32>(task, row);
}

void avx512_rotary(const RotaryTask& task, std::int64_t first, std::int64_t end) {
  for (std::int64_t token = first; token < end; ++token)
    task.bf16 ? rotary<Bf16Bits>(task, token) : rotary<Fp32>(task, token);
}

}  // namespace poolcast::kernels
