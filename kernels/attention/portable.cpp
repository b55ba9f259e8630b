// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/element.h"

namespace poolcast::kernels {
namespace {

/// Eight sums side by side, which any compiler keeps in vectors.
template <class T>
float dot(const float* a, const T* b, std::int64_t count) {
  float lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; ++lane) lanes[lane] += a[i + lane] * factor(b[i + lane]);
  float sum = 0;
  for (; i < count; ++i) sum += a[i] * factor(b[i]);
  for (float lane : lanes) sum += lane;
  return sum;
}

template <class T>
void add_multiple(float* sums, float times, const T* of, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += times * factor(of[i]);
}

/// All query heads of a KV head together, block by block: each row of K and V is read once for the group, and weights
/// are scaled again when a greater score appears.
template <class T>
class Group {
 public:
  Group(const KvCache& cache, std::int64_t heads, const AttentionSequence& sequence, std::int64_t token,
        std::int64_t kv_head)
      : cache_(cache),
        group_(heads / cache.kv_heads),
        first_((token * heads + kv_head * group_) * cache.head_dim),
        q_(at(group_ * cache.head_dim)),
        sums_(at(group_ * cache.head_dim), 0.0f),
        weight_(at(group_ * cache.block)),
        most_(at(group_), -INFINITY),
        total_(at(group_), 0.0f) {
    const float scale = 1 / std::sqrt(static_cast<float>(cache.head_dim));
    const T* q = static_cast<const T*>(sequence.q) + first_;
    for (std::size_t i = 0; i < q_.size(); ++i) q_[i] = factor(q[i]) * scale;
  }

  void add_block(const T* k, const T* v, std::int64_t count) {
    const std::int64_t d = cache_.head_dim;
    for (std::int64_t t = 0; t < count; ++t)
      for (std::int64_t g = 0; g < group_; ++g) weight_[at(g * cache_.block + t)] = dot(&q_[at(g * d)], k + t * d, d);
    for (std::int64_t g = 0; g < group_; ++g) normalise(g, count);
    for (std::int64_t t = 0; t < count; ++t)
      for (std::int64_t g = 0; g < group_; ++g)
        add_multiple(&sums_[at(g * d)], weight_[at(g * cache_.block + t)], v + t * d, d);
  }

  void write(const AttentionSequence& sequence) const {
    T* out = static_cast<T*>(sequence.out) + first_;
    for (std::size_t i = 0; i < sums_.size(); ++i)
      put(out[i], sums_[i] / total_[i / static_cast<std::size_t>(cache_.head_dim)]);
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// Scores of head g become weights; what was summed before is scaled to the greatest score so far.
  void normalise(std::int64_t g, std::int64_t count) {
    float* weight = &weight_[at(g * cache_.block)];
    const float most = std::max(most_[at(g)], *std::max_element(weight, weight + count));
    const float shrink = std::exp(most_[at(g)] - most);
    most_[at(g)] = most;
    total_[at(g)] *= shrink;
    for (std::int64_t i = 0; i < cache_.head_dim; ++i) sums_[at(g * cache_.head_dim + i)] *= shrink;
    for (std::int64_t t = 0; t < count; ++t) total_[at(g)] += weight[t] = std::exp(weight[t] - most);
  }

  const KvCache& cache_;
  std::int64_t group_, first_;
  std::vector<float> q_, sums_, weight_, most_, total_;
};

template <class T>
void attend(const KvCache& cache, std::int64_t heads, const AttentionSequence& sequence, std::int64_t token,
            std::int64_t kv_head) {
  Group<T> group(cache, heads, sequence, token, kv_head);
  const std::int64_t seen = sequence.total - sequence.query + token + 1;
  for (std::int64_t first = 0; first < seen; first += cache.block) {
    const std::int64_t block = sequence.blocks[first / cache.block];
    const std::int64_t offset = (block * cache.kv_heads + kv_head) * cache.block * cache.head_dim;
    group.add_block(static_cast<const T*>(cache.k) + offset, static_cast<const T*>(cache.v) + offset,
                    std::min(cache.block, seen - first));
  }
  group.write(sequence);
}

}  // namespace

void portable_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                        Team& team) {
  with_float_element(cache.dtype, [&](auto element) {
    for (const AttentionSequence& sequence : sequences)
      team.parallel(sequence.query * cache.kv_heads, [&](std::int64_t part) {
        attend<decltype(element)>(cache, heads, sequence, part / cache.kv_heads, part % cache.kv_heads);
      });
  });
}

}  // namespace poolcast::kernels
