// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/peaks/loops.h"
#include "kernels/repeat.h"

namespace poolcast::kernels {

double peak_avx512_int8(std::int64_t rounds) {
  constexpr int kSums = 16;
  __m512i sum[kSums];
  repeat<kSums>([&](auto i) { sum[i] = _mm512_set1_epi32(i); });
  const __m512i a = _mm512_set1_epi8(77), b = _mm512_set1_epi8(-3);
  for (std::int64_t round = 0; round < rounds; ++round)
    repeat<kSums>([&](auto i) {
      sum[i] = _mm512_dpbusd_epi32(sum[i], a, b);
      __asm__ volatile("" : "+v"(sum[i]));
    });
  return static_cast<double>(rounds) * kSums * 64 * 2;
}

}  // namespace poolcast::kernels
