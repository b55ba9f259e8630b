// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/peaks/loops.h"
#include "kernels/repeat.h"

namespace poolcast::kernels {

double peak_avx512_fp32(std::int64_t rounds) {
  constexpr int kSums = 16;
  __m512 sum[kSums];
  repeat<kSums>([&](auto i) { sum[i] = _mm512_set1_ps(1.0f + static_cast<float>(int(i))); });
  const __m512 a = _mm512_set1_ps(0.7f), b = _mm512_set1_ps(-1.3f);
  for (std::int64_t round = 0; round < rounds; ++round)
    repeat<kSums>([&](auto i) {
      sum[i] = _mm512_fmadd_ps(a, b, sum[i]);
      __asm__ volatile("" : "+v"(sum[i]));
    });
  return static_cast<double>(rounds) * kSums * 16 * 2;
}

}  // namespace poolcast::kernels
