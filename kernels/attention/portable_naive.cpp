// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/element.h"

namespace poolcast::kernels {
namespace {

/// Query head by query head: K and V are read again for each head of a group.
template <class T>
void attend(const KvCache& cache, std::int64_t heads, const AttentionSequence& sequence, std::int64_t token,
            std::int64_t head) {
  const std::int64_t d = cache.head_dim, seen = sequence.total - sequence.query + token + 1;
  const std::int64_t kv_head = head / (heads / cache.kv_heads);
  const T* q = static_cast<const T*>(sequence.q) + (token * heads + head) * d;
  const auto offset = [&](std::int64_t t) {
    const std::int64_t block = sequence.blocks[t / cache.block];
    return ((block * cache.kv_heads + kv_head) * cache.block + t % cache.block) * d;
  };
  std::vector<float> weight(static_cast<std::size_t>(seen)), sums(static_cast<std::size_t>(d), 0.0f);
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  float most = -INFINITY;
  for (std::int64_t t = 0; t < seen; ++t) {
    const T* k = static_cast<const T*>(cache.k) + offset(t);
    float sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += factor(q[i]) * factor(k[i]);
    weight[static_cast<std::size_t>(t)] = sum * scale;
    most = std::max(most, sum * scale);
  }
  float total = 0;
  for (float& w : weight) total += w = std::exp(w - most);
  for (std::int64_t t = 0; t < seen; ++t) {
    const T* v = static_cast<const T*>(cache.v) + offset(t);
    for (std::int64_t i = 0; i < d; ++i)
      sums[static_cast<std::size_t>(i)] += weight[static_cast<std::size_t>(t)] * factor(v[i]);
  }
  T* out = static_cast<T*>(sequence.out) + (token * heads + head) * d;
  for (std::int64_t i = 0; i < d; ++i) put(out[i], sums[static_cast<std::size_t>(i)] / total);
}

}  // namespace

void portable_naive_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                              Team& team) {
  with_float_element(cache.dtype, [&](auto element) {
    for (const AttentionSequence& sequence : sequences)
      team.parallel(sequence.query * heads, [&](std::int64_t row) {
        attend<decltype(element)>(cache, heads, sequence, row / heads, row % heads);
      });
  });
}

}  // namespace poolcast::kernels
