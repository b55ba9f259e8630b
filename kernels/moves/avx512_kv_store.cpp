// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/moves/kv_store_task.h"

namespace poolcast::kernels {
namespace {

void copy(char* to, const char* from, std::int64_t bytes) {
  std::int64_t i = 0;
  for (; i + 64 <= bytes; i += 64) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  if (i == bytes) return;
  const __mmask64 rest = (__mmask64{1} << (bytes - i)) - 1;
  _mm512_mask_storeu_epi8(to + i, rest, _mm512_maskz_loadu_epi8(rest, from + i));
}

}  // namespace

void avx512_kv_store(const KvStoreTask& task, std::int64_t first, std::int64_t end) {
  for (std::int64_t token = first; token < end; ++token)
    for (std::int64_t head = 0; head < task.kv_heads; ++head) {
      const std::int64_t place = place_of(task, token, head), at = head * task.head_bytes;
      copy(task.k_cache + place, task.k + token * task.k_stride + at, task.head_bytes);
      copy(task.v_cache + place, task.v + token * task.v_stride + at, task.head_bytes);
    }
}

}  // namespace poolcast::kernels
