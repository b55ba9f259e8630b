// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/peaks/memory.h"

namespace poolcast::kernels {

std::uint64_t read_all_avx512(const void* from, std::int64_t bytes) {
  const auto* at = static_cast<const char*>(from);
  __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
  for (std::int64_t i = 0; i < bytes; i += 256)
    for (int j = 0; j < 4; ++j) {
      _mm_prefetch(at + i + 64 * j + 4096, _MM_HINT_T0);
      sum[j] = _mm512_xor_si512(sum[j], _mm512_load_si512(at + i + 64 * j));
    }
  const __m512i all = _mm512_xor_si512(_mm512_xor_si512(sum[0], sum[1]), _mm512_xor_si512(sum[2], sum[3]));
  return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(all));
}

}  // namespace poolcast::kernels
