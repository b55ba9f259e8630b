// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "kernels/attention/avx512_decode.h"
#include "kernels/avx512_math.h"
#include "kernels/repeat.h"

namespace poolcast::kernels {
namespace {

/// The rows of a chunk, and what the heads have summed so far.
struct Chunk {
  const Chunk* next;  // to ask for, perhaps of another task; itself at the end of all
  const std::uint16_t* k[kDecodeChunk];
  const std::uint16_t* v[kDecodeChunk];
  std::int64_t count;  // of them that the sequence has; the others point at its last row
  float scores[kDecodeHeads][kDecodeChunk];
  alignas(64) std::uint32_t weights[kDecodeHeads][kDecodeChunk / 2];  // bf16, two tokens to a word
};

/// Running state of a head: sums of head_dim outputs, then 16 partial sums of the weights, then the greatest score.
struct Head {
  float* sums;
  float* total;
  float* most;
};

Head head_of(const DecodeTask& task, std::int64_t head) {
  float* base = task.sums + head * (task.head_dim + 32);
  return {base, base + task.head_dim, base + task.head_dim + 16};
}

/// Pointers to the rows of a chunk. A whole one is read from eight places in turn: blocks lie anywhere, and one after
/// the other they give the processor's own prefetching too little to follow (on Zen 4 reading 4 KiB blocks so gets 18
/// GB/s, eight at once 29, memory in order 30). Each place begins a row later than the one before it, because the same
/// row of eight blocks would lie in the same set of the first cache.
void gather(const DecodeTask& task, std::int64_t first, Chunk& chunk) {
  constexpr std::int64_t kPlaces = 8, kRows = kDecodeChunk / kPlaces;
  chunk.count = task.total - first < kDecodeChunk ? task.total - first : kDecodeChunk;
  const bool whole = chunk.count == kDecodeChunk;
  std::int64_t block = first / task.block, slot = first % task.block;
  std::int64_t offset = task.blocks[block] * task.block_elements + slot * task.head_dim;
  for (std::int64_t t = 0; t < kDecodeChunk; ++t) {
    const std::int64_t place = t / kRows, at = whole ? (t + place) % kRows * kPlaces + place : t;
    chunk.k[at] = task.k + offset;
    chunk.v[at] = task.v + offset;
    if (t + 1 >= chunk.count) continue;
    offset += task.head_dim;
    if (++slot == task.block) {
      slot = 0;
      offset = task.blocks[++block] * task.block_elements;
    }
  }
}

/// A line of the next chunk, asked for into the second cache while this one is worked on: between the sums, so that
/// both go on side by side. (Into the first cache it goes at half the rate on Zen 4: that one has fewer requests under
/// way.)
inline void ask_for(const std::uint16_t* row) { _mm_prefetch(reinterpret_cast<const char*>(row), _MM_HINT_T1); }

__m512 dot(__m512 sum, __m512i a, __m512i b) { return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b); }

/// Scores of kHeads heads for 16 / kHeads tokens from `token` on: 16 sums, each over the whole head.
template <int kHeads>
inline void scores_of(const DecodeTask& task, Chunk& chunk, std::int64_t head, std::int64_t row, std::int64_t token) {
  constexpr int kTokens = 16 / kHeads;
  const std::uint16_t* q = task.q + head * task.head_dim;
  __m512 sum[16];
  repeat<16>([&](auto i) { sum[i] = _mm512_setzero_ps(); });
  for (std::int64_t d = 0; d < task.head_dim; d += 32) {
    __m512i query[kHeads];
    repeat<kHeads>([&](auto h) { query[h] = _mm512_loadu_si512(q + h * task.head_dim + d); });
    repeat<kTokens>([&](auto t) {
      const __m512i key = _mm512_loadu_si512(chunk.k[token + t] + d);
      ask_for(chunk.next->k[token + t] + d);
      repeat<kHeads>([&](auto h) { sum[h * kTokens + t] = dot(sum[h * kTokens + t], query[h], key); });
    });
  }
  alignas(64) float sums[16];
  _mm512_store_ps(sums, sums_of_16(sum));
  for (int h = 0; h < kHeads; ++h)
    for (int t = 0; t < kTokens; ++t) chunk.scores[row + h][token + t] = sums[h * kTokens + t];
}

/// Scores become weights; what was summed before is scaled to the greatest score so far.
void weigh(const DecodeTask& task, Chunk& chunk, const Head& head, std::int64_t row, float scale) {
  constexpr int kVectors = kDecodeChunk / 16;
  __m512 score[kVectors];
  __m512 most = _mm512_set1_ps(*head.most);
  repeat<kVectors>([&](auto v) {
    const __mmask16 there = first_of_16(chunk.count - 16 * v);
    score[v] = _mm512_mask_mul_ps(_mm512_set1_ps(-__builtin_inff()), there, _mm512_set1_ps(scale),
                                  _mm512_loadu_ps(chunk.scores[row] + 16 * v));
    most = _mm512_max_ps(most, score[v]);
  });
  const __m512 greatest = _mm512_set1_ps(_mm512_reduce_max_ps(most));
  const __m512 shrink = exp2_of(_mm512_sub_ps(_mm512_set1_ps(*head.most), greatest));
  __m512 total = _mm512_mul_ps(_mm512_loadu_ps(head.total), shrink);
  repeat<kVectors>([&](auto v) {
    const __m512 weight = exp2_of(_mm512_sub_ps(score[v], greatest));
    total = _mm512_add_ps(total, weight);
    _mm256_store_si256(reinterpret_cast<__m256i*>(chunk.weights[row] + 8 * v), (__m256i)_mm512_cvtneps_pbh(weight));
  });
  _mm512_storeu_ps(head.total, total);
  if (_mm512_cvtss_f32(greatest) != *head.most) {
    for (std::int64_t d = 0; d < task.head_dim; d += 16)
      _mm512_storeu_ps(head.sums + d, _mm512_mul_ps(_mm512_loadu_ps(head.sums + d), shrink));
    *head.most = _mm512_cvtss_f32(greatest);
  }
}

/// Adds the weighted rows of V, kColumns times 32 outputs of kHeads heads from `column` on. Two tokens are interleaved,
/// so that a word of V meets a word of weights. The interleaving leaves the outputs in another order (in each 32:
/// elements 0-3, 8-11, 16-19, 24-27, then 4-7...), which `write` turns back.
template <int kHeads, int kColumns>
inline void add_values(const DecodeTask& task, const Chunk& chunk, std::int64_t head, std::int64_t column) {
  __m512 sum[kHeads][2 * kColumns];
  repeat<kHeads>([&](auto h) {
    const float* sums = head_of(task, head + h).sums + column;
    repeat<2 * kColumns>([&](auto c) { sum[h][c] = _mm512_loadu_ps(sums + 16 * c); });
  });
  for (std::int64_t pair = 0; 2 * pair < chunk.count; ++pair) {
    const std::uint16_t *even = chunk.v[2 * pair] + column, *odd = chunk.v[2 * pair + 1] + column;
    __m512i value[2 * kColumns];
    repeat<kColumns>([&](auto c) {
      ask_for(chunk.next->v[2 * pair] + column + 32 * c);
      ask_for(chunk.next->v[2 * pair + 1] + column + 32 * c);
      const __m512i a = _mm512_loadu_si512(even + 32 * c), b = _mm512_loadu_si512(odd + 32 * c);
      value[2 * c] = _mm512_unpacklo_epi16(a, b);
      value[2 * c + 1] = _mm512_unpackhi_epi16(a, b);
    });
    repeat<kHeads>([&](auto h) {
      const __m512i weight = _mm512_set1_epi32(static_cast<int>(chunk.weights[h][pair]));
      repeat<2 * kColumns>([&](auto c) { sum[h][c] = dot(sum[h][c], weight, value[c]); });
    });
  }
  repeat<kHeads>([&](auto h) {
    float* sums = head_of(task, head + h).sums + column;
    repeat<2 * kColumns>([&](auto c) { _mm512_storeu_ps(sums + 16 * c, sum[h][c]); });
  });
}

/// A chunk for kHeads heads: enough outputs at once that 16 sums or so are under way.
template <int kHeads>
void add_chunk(const DecodeTask& task, Chunk& chunk, std::int64_t head, float scale) {
  for (std::int64_t token = 0; token < chunk.count; token += 16) {
    int row = 0;
    for (; row + 4 <= kHeads; row += 4)
      for (int t = 0; t < 16; t += 4) scores_of<4>(task, chunk, head + row, row, token + t);
    for (; row + 2 <= kHeads; row += 2)
      for (int t = 0; t < 16; t += 8) scores_of<2>(task, chunk, head + row, row, token + t);
    if (row < kHeads) scores_of<1>(task, chunk, head + row, row, token);
  }
  for (int row = 0; row < kHeads; ++row) weigh(task, chunk, head_of(task, head + row), row, scale);
  constexpr int kColumns = kHeads <= 2 ? 4 : kHeads <= 4 ? 2 : 1;
  std::int64_t column = 0;
  for (; column + 32 * kColumns <= task.head_dim; column += 32 * kColumns)
    add_values<kHeads, kColumns>(task, chunk, head, column);
  for (; column < task.head_dim; column += 32) add_values<kHeads, 1>(task, chunk, head, column);
}

void add_chunk(const DecodeTask& task, Chunk& chunk, std::int64_t head, std::int64_t heads, float scale) {
  switch (heads) {
    case 1:
      return add_chunk<1>(task, chunk, head, scale);
    case 2:
      return add_chunk<2>(task, chunk, head, scale);
    case 3:
      return add_chunk<3>(task, chunk, head, scale);
    case 4:
      return add_chunk<4>(task, chunk, head, scale);
    case 5:
      return add_chunk<5>(task, chunk, head, scale);
    case 6:
      return add_chunk<6>(task, chunk, head, scale);
    case 7:
      return add_chunk<7>(task, chunk, head, scale);
    default:
      return add_chunk<8>(task, chunk, head, scale);
  }
}

void write(const DecodeTask& task, std::int64_t row) {
  const Head head = head_of(task, row);
  const __m512 factor = _mm512_set1_ps(1 / _mm512_reduce_add_ps(_mm512_loadu_ps(head.total)));
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
  for (std::int64_t d = 0; d < task.head_dim; d += 32) {
    const __m512 low = _mm512_mul_ps(_mm512_loadu_ps(head.sums + d), factor);
    const __m512 high = _mm512_mul_ps(_mm512_loadu_ps(head.sums + d + 16), factor);
    const __m512bh both =
        _mm512_cvtne2ps_pbh(_mm512_permutex2var_ps(low, second, high), _mm512_permutex2var_ps(low, first, high));
    _mm512_storeu_si512(task.out + row * task.head_dim + d, (__m512i)both);
  }
}

}  // namespace

void avx512_decode(const DecodeTask& task) {
  for (std::int64_t row = 0; row < task.group; ++row) {
    const Head head = head_of(task, row);
    for (std::int64_t d = 0; d < task.head_dim + 16; ++d) head.sums[d] = 0;
    *head.most = -__builtin_inff();
  }
  const float scale = kLog2E / __builtin_sqrtf(static_cast<float>(task.head_dim));
  Chunk chunks[2];
  gather(task, 0, chunks[0]);
  for (std::int64_t first = 0, number = 0; first < task.total; first += kDecodeChunk, ++number) {
    Chunk& chunk = chunks[number % 2];
    Chunk& next = chunks[(number + 1) % 2];
    const bool last = first + kDecodeChunk >= task.total;
    if (!last) gather(task, first + kDecodeChunk, next);
    if (last && task.next != nullptr) gather(*task.next, 0, next);
    chunk.next = last && task.next == nullptr ? &chunk : &next;
    for (std::int64_t head = 0; head < task.group; head += kDecodeHeads)
      add_chunk(task, chunk, head, task.group - head < kDecodeHeads ? task.group - head : kDecodeHeads, scale);
  }
  for (std::int64_t row = 0; row < task.group; ++row) write(task, row);
}

}  // namespace poolcast::kernels
