// SPDX-License-Identifier: Apache-2.0
#include "kernels/peaks/memory.h"

#include <emmintrin.h>

namespace poolcast::kernels {

std::uint64_t read_all(const void* from, std::int64_t bytes) {
  const auto* at = static_cast<const __m128i*>(from);
  __m128i sum[4] = {};
  for (std::int64_t i = 0; i < bytes / 16; i += 4) {
    _mm_prefetch(reinterpret_cast<const char*>(at + i) + 4096, _MM_HINT_T0);
    for (int j = 0; j < 4; ++j) sum[j] = _mm_xor_si128(sum[j], _mm_load_si128(at + i + j));
  }
  const __m128i all = _mm_xor_si128(_mm_xor_si128(sum[0], sum[1]), _mm_xor_si128(sum[2], sum[3]));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(all));
}

std::uint64_t read_blocks(const void* from, const std::int32_t* order, std::int64_t count) {
  constexpr std::int64_t kBlock = 4096, kRow = 256;
  const auto* blocks = static_cast<const char*>(from);
  __m128i sum[4] = {};
  for (std::int64_t i = 0; i + kBlocksAtOnce <= count; i += kBlocksAtOnce) {
    for (std::int64_t row = 0; row < kBlock; row += kRow) {
      for (std::int64_t j = i; j < i + kBlocksAtOnce; ++j) {
        const char *at = blocks + order[j] * kBlock + row, *ahead = blocks + order[j + kBlocksAtOnce] * kBlock + row;
        for (std::int64_t line = 0; line < kRow; line += 64) {
          _mm_prefetch(ahead + line, _MM_HINT_T1);
          for (int k = 0; k < 4; ++k)
            sum[k] = _mm_xor_si128(sum[k], _mm_load_si128(reinterpret_cast<const __m128i*>(at + line) + k));
        }
      }
    }
  }
  const __m128i all = _mm_xor_si128(_mm_xor_si128(sum[0], sum[1]), _mm_xor_si128(sum[2], sum[3]));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(all));
}

void copy_all(void* to, const void* from, std::int64_t bytes) {
  const auto* in = static_cast<const __m128i*>(from);
  auto* out = static_cast<__m128i*>(to);
  for (std::int64_t i = 0; i < bytes / 16; i += 4) {
    _mm_prefetch(reinterpret_cast<const char*>(in + i) + 4096, _MM_HINT_T0);
    for (int j = 0; j < 4; ++j) _mm_stream_si128(out + i + j, _mm_load_si128(in + i + j));
  }
  _mm_sfence();
}

}  // namespace poolcast::kernels
