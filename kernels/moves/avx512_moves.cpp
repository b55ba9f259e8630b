// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/avx512_math.h"
#include "kernels/moves/native.h"

namespace poolcast::kernels {
namespace {

__m256i to_bf16_bits(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}

}  // namespace

void avx512_stream_copy(void* to, const void* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(static_cast<char*>(to) + i),
                        _mm512_load_si512(static_cast<const char*>(from) + i));
  _mm_sfence();
}

void avx512_reduce_fp32(const void* const* in, void* const* out, std::int64_t ranks, std::int64_t first,
                        std::int64_t end) {
  for (std::int64_t i = first; i < end; i += 16) {
    const __mmask16 mask = first_of_16(end - i);
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, static_cast<const float*>(in[rank]) + i));
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      _mm512_mask_storeu_ps(static_cast<float*>(out[rank]) + i, mask, sum);
  }
}

void avx512_reduce_bf16(const void* const* in, void* const* out, std::int64_t ranks, std::int64_t first,
                        std::int64_t end) {
  for (std::int64_t i = first; i < end; i += 16) {
    const __mmask16 mask = first_of_16(end - i);
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const auto* from = static_cast<const std::uint16_t*>(in[rank]) + i;
      sum = _mm512_add_ps(sum, from_bf16(_mm256_maskz_loadu_epi16(mask, from)));
    }
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      _mm256_mask_storeu_epi16(static_cast<std::uint16_t*>(out[rank]) + i, mask, to_bf16_bits(sum));
  }
}

}  // namespace poolcast::kernels
