// SPDX-License-Identifier: Apache-2.0
#include <emmintrin.h>

#include "kernels/peaks/loops.h"
#include "kernels/repeat.h"

namespace poolcast::kernels {

double peak_sse_fp32(std::int64_t rounds) {
  constexpr int kSums = 6;
  __m128 sum[kSums], product[kSums];
  repeat<kSums>([&](auto i) { sum[i] = product[i] = _mm_set1_ps(1.0f + static_cast<float>(int(i))); });
  const __m128 factor = _mm_set1_ps(0.9999f), term = _mm_set1_ps(1e-3f);
  for (std::int64_t round = 0; round < rounds; ++round)
    repeat<kSums>([&](auto i) {
      sum[i] = _mm_add_ps(sum[i], term);
      product[i] = _mm_mul_ps(product[i], factor);
      __asm__ volatile("" : "+x"(sum[i]), "+x"(product[i]));
    });
  return static_cast<double>(rounds) * kSums * 4 * 2;
}

}  // namespace poolcast::kernels
