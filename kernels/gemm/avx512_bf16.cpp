// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/avx512_panel.h"
#include "kernels/gemm/avx512_panels.h"

namespace poolcast::kernels {
namespace {

struct Bf16Dot {
  using Output = std::uint16_t;

  static __m512i step(__m512i sum, __m512i a, __m512i b) {
    return _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(sum), (__m512bh)a, (__m512bh)b));
  }
  static void store(std::uint16_t* c, __mmask16 mask, __m512i sum) {
    _mm256_mask_storeu_epi16(c, mask, (__m256i)_mm512_cvtneps_pbh(_mm512_castsi512_ps(sum)));
  }
};

}  // namespace

void avx512_bf16_panel(const PanelTask& task) { all_passes<Bf16Dot>(task); }

}  // namespace poolcast::kernels
