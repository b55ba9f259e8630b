// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/peaks/loops.h"
#include "kernels/repeat.h"

namespace poolcast::kernels {

double peak_avx512_bf16(std::int64_t rounds) {
  constexpr int kSums = 16;
  __m512 sum[kSums];
  repeat<kSums>([&](auto i) { sum[i] = _mm512_set1_ps(1.0f + static_cast<float>(int(i))); });
  const auto a = (__m512bh)_mm512_set1_epi16(0x3f33), b = (__m512bh)_mm512_set1_epi16(0x3fa6);  // 0.7, 1.3
  for (std::int64_t round = 0; round < rounds; ++round)
    repeat<kSums>([&](auto i) {
      sum[i] = _mm512_dpbf16_ps(sum[i], a, b);
      __asm__ volatile("" : "+v"(sum[i]));
    });
  return static_cast<double>(rounds) * kSums * 32 * 2;
}

}  // namespace poolcast::kernels
