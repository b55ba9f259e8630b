// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/avx512_panel.h"
#include "kernels/gemm/avx512_panels.h"

namespace poolcast::kernels {
namespace {

struct Fp32Dot {
  using Output = float;

  static __m512i step(__m512i sum, __m512i a, __m512i b) {
    return _mm512_castps_si512(
        _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(sum)));
  }
  static void store(float* c, __mmask16 mask, __m512i sum) { _mm512_mask_storeu_epi32(c, mask, sum); }
};

}  // namespace

void avx512_fp32_panel(const PanelTask& task) { all_passes<Fp32Dot>(task); }

}  // namespace poolcast::kernels
