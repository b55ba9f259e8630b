// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/avx512_panel.h"
#include "kernels/gemm/avx512_panels.h"

namespace poolcast::kernels {
namespace {

/// vpdpbusd multiplies unsigned by signed bytes: the rows come with 128 added.
struct Int8Dot {
  using Output = std::int32_t;

  static __m512i step(__m512i sum, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(sum, a, b); }
  static void store(std::int32_t* c, __mmask16 mask, __m512i sum) { _mm512_mask_storeu_epi32(c, mask, sum); }
};

}  // namespace

void avx512_int8_panel(const PanelTask& task) { all_passes<Int8Dot>(task); }

}  // namespace poolcast::kernels
