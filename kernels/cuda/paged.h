// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Index arithmetic of paged decode attention: block tables, the split of a sequence over several blocks of threads,
/// and the exact merge of their partial results. Plain C++, tested on any machine.
namespace poolcast::cuda {

/// Where one token's key (or value) vector of one head lies: strides in elements. Any order of block, token and head
/// axes is a choice of strides; the head dimension is contiguous.
struct PagedStrides {
  std::int64_t block = 0;
  std::int64_t token = 0;
  std::int64_t head = 0;
};

constexpr std::int64_t paged_offset(const int* block_table, int block_tokens, const PagedStrides& strides, int token,
                                    int head) {
  return block_table[token / block_tokens] * strides.block + token % block_tokens * strides.token + head * strides.head;
}

struct TokenRange {
  int begin = 0;
  int end = 0;
};

/// Part `split` of `splits` of a sequence of `tokens`, cut at multiples of `grain`. Parts may be empty; together they
/// cover every token once.
constexpr TokenRange split_range(int tokens, int splits, int split, int grain) {
  const int grains = (tokens + grain - 1) / grain;
  const int begin = static_cast<int>(static_cast<std::int64_t>(grains) * split / splits) * grain;
  const int end = static_cast<int>(static_cast<std::int64_t>(grains) * (split + 1) / splits) * grain;
  return {begin, end < tokens ? end : tokens};
}

/// Splits per sequence that give each multiprocessor about two blocks, but no split shorter than `least_tokens`.
constexpr int choose_splits(int tokens, int sequences_times_heads, int multiprocessors, int least_tokens) {
  const int wanted = (2 * multiprocessors + sequences_times_heads - 1) / sequences_times_heads;
  const int possible = (tokens + least_tokens - 1) / least_tokens;
  const int splits = wanted < possible ? wanted : possible;
  return splits < 1 ? 1 : (splits > 64 ? 64 : splits);
}

/// Softmax in parts: the largest score and the sum of exponentials below it (base 2: scores are scaled by log2 e).
/// Merging two parts rescales both to the larger maximum; an empty part has maximum -inf and sum 0.
struct SoftmaxPart {
  float maximum = 0;
  float sum = 0;
};

/// Factor by which a part's values are to be multiplied when the joint maximum is `joint`. 0 for an empty part, also
/// when both are empty (-inf minus -inf would be NaN).
template <class Exp2>
constexpr float rescale(float maximum, float joint, Exp2 exp2) {
  return maximum == joint ? 1.0f : exp2(maximum - joint);
}

}  // namespace poolcast::cuda
