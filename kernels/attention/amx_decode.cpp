// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/amx_decode.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/attention/attention.h"

namespace poolcast::kernels {
namespace {

/// Words of the query, head by head, next to each other: [head_dim / 32][16 words][16 heads] is word * 16 + head.
std::vector<std::uint32_t> transposed(const std::uint16_t* q, std::int64_t heads, std::int64_t head_dim) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(head_dim / 2 * kTileHeads), 0);
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t word = 0; word < head_dim / 2; ++word)
      std::memcpy(words.data() + word * kTileHeads + head, q + head * head_dim + 2 * word, 4);
  return words;
}

}  // namespace

void tiled_decode_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                            Team& team, void (*decode)(const TileDecodeTask&)) {
  const std::int64_t group = heads / cache.kv_heads, pieces = (group + kTileHeads - 1) / kTileHeads;
  team.parallel(static_cast<std::int64_t>(sequences.size()) * cache.kv_heads * pieces, [&](std::int64_t part) {
    const AttentionSequence& sequence = sequences[static_cast<std::size_t>(part / (cache.kv_heads * pieces))];
    const std::int64_t kv_head = part / pieces % cache.kv_heads, first = part % pieces * kTileHeads;
    const std::int64_t offset = (kv_head * group + first) * cache.head_dim;
    TileDecodeTask task{};
    task.group = std::min(kTileHeads, group - first);
    const std::vector<std::uint32_t> q =
        transposed(static_cast<const std::uint16_t*>(sequence.q) + offset, task.group, cache.head_dim);
    task.q = q.data();
    task.out = static_cast<std::uint16_t*>(sequence.out) + offset;
    task.k = static_cast<const std::uint16_t*>(cache.k) + kv_head * cache.block * cache.head_dim;
    task.v = static_cast<const std::uint16_t*>(cache.v) + kv_head * cache.block * cache.head_dim;
    task.blocks = sequence.blocks;
    task.block_elements = cache.kv_heads * cache.block * cache.head_dim;
    task.block = cache.block;
    task.head_dim = cache.head_dim;
    task.total = sequence.total;
    decode(task);
  });
}

void amx_decode_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                          Team& team) {
  tiled_decode_attention(cache, heads, sequences, team, amx_decode);
}

}  // namespace poolcast::kernels
