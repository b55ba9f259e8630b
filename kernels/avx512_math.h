// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include "kernels/repeat.h"

/// Arithmetic on 16 floats, for sources compiled for AVX-512, local to each of them (gemm/avx512_panel.h says why).
namespace poolcast::kernels {
namespace {

/// 2^x for x up to 127; 0 for x below -150 and for -infinity. Relative error below 3e-7: the fraction in [-1/2, 1/2] by
/// the Taylor polynomial of degree 6, whose next term is below 2e-8... times the float's own rounding.
inline __m512 exp2_of(__m512 x) {
  x = _mm512_max_ps(x, _mm512_set1_ps(-160.0f));
  const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 part = _mm512_sub_ps(x, whole);
  __m512 value = _mm512_set1_ps(1.5403530e-4f);
  value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(1.3333558e-3f));
  value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(9.6181291e-3f));
  value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(5.5504109e-2f));
  value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(2.4022651e-1f));
  value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(6.9314718e-1f));
  value = _mm512_fmadd_ps(value, part, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(value, whole);
}

inline constexpr float kLog2E = 1.44269504f;

/// The first `count` of 16.
inline __mmask16 first_of_16(long count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1 << count) - 1);
}

inline __m512 from_bf16(__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); }

/// The sum of each of 16 vectors, in their order.
[[gnu::always_inline]] inline __m512 sums_of_16(const __m512 (&v)[16]) {
  __m512 two[8], four[4];
  repeat<8>([&](auto i) {
    two[i] = _mm512_add_ps(_mm512_unpacklo_ps(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_ps(v[2 * i], v[2 * i + 1]));
  });
  repeat<4>([&](auto i) {
    const __m512d a = _mm512_castps_pd(two[2 * i]), b = _mm512_castps_pd(two[2 * i + 1]);
    four[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  });
  const auto join = [](__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  };
  return join(join(four[0], four[1]), join(four[2], four[3]));
}

}  // namespace
}  // namespace poolcast::kernels
