// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/avx512_decode.h"

#include <vector>

#include "kernels/attention/attention.h"

namespace poolcast::kernels {

void avx512_decode_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                             Team& team) {
  const std::int64_t group = heads / cache.kv_heads;
  const auto parts = static_cast<std::int64_t>(sequences.size()) * cache.kv_heads;
  const auto task_of = [&](std::int64_t part) {
    const AttentionSequence& sequence = sequences[static_cast<std::size_t>(part / cache.kv_heads)];
    const std::int64_t kv_head = part % cache.kv_heads;
    DecodeTask task{};
    task.q = static_cast<const std::uint16_t*>(sequence.q) + kv_head * group * cache.head_dim;
    task.out = static_cast<std::uint16_t*>(sequence.out) + kv_head * group * cache.head_dim;
    task.group = group;
    task.k = static_cast<const std::uint16_t*>(cache.k) + kv_head * cache.block * cache.head_dim;
    task.v = static_cast<const std::uint16_t*>(cache.v) + kv_head * cache.block * cache.head_dim;
    task.blocks = sequence.blocks;
    task.block_elements = cache.kv_heads * cache.block * cache.head_dim;
    task.block = cache.block;
    task.head_dim = cache.head_dim;
    task.total = sequence.total;
    return task;
  };
  team.parallel(parts, [&](std::int64_t part) {
    thread_local std::vector<float> sums;
    sums.resize(static_cast<std::size_t>(group * (cache.head_dim + 32)));
    DecodeTask task = task_of(part), next{};
    task.sums = sums.data();
    if (part + 1 < parts) {
      next = task_of(part + 1);
      task.next = &next;
    }
    avx512_decode(task);
  });
}

}  // namespace poolcast::kernels
