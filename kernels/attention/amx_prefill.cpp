// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/amx_prefill.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/attention/prefill_rows.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kTile = 256;  // words

struct PackedHead {
  std::vector<std::uint32_t> k, v;  // panels as TilePrefillTask wants them
};

/// Tokens beyond the last become zero: their weights are zero, but zero times NaN is not.
void pack_panel(const KvCache& cache, const PrefillRows& rows, std::int64_t total, std::int64_t panel,
                PackedHead& packed) {
  const std::int64_t words = cache.head_dim / 2, first = panel * kTilePanel, size = words * kTilePanel;
  std::uint32_t *k = packed.k.data() + panel * size, *v = packed.v.data() + panel * size;
  std::fill_n(k, size, 0u);
  std::fill_n(v, size, 0u);
  for (std::int64_t t = 0; t < std::min(kTilePanel, total - first); ++t) {
    const std::uint16_t *key = rows.in_cache(cache.k, first + t), *value = rows.in_cache(cache.v, first + t);
    for (std::int64_t word = 0; word < words; ++word)
      std::memcpy(k + (word / 16 * 4 + t / 16) * kTile + word % 16 * 16 + t % 16, key + 2 * word, 4);
    for (std::int64_t d = 0; d < cache.head_dim; ++d)
      v[(d / 16 * 2 + t / 32) * kTile + t % 32 / 2 * 16 + d % 16] |= std::uint32_t{value[d]} << (t % 2 * 16);
  }
}

void attend(const KvCache& cache, const PrefillRows& rows, const PackedHead& packed, std::int64_t first,
            void (*prefill)(const TilePrefillTask&)) {
  const std::int64_t count = std::min(kTileRows, rows.count() - first), words = cache.head_dim / 2;
  std::vector<std::uint32_t> q(static_cast<std::size_t>(words * kTileRows), 0);
  std::int64_t seen[kTileRows];
  std::uint16_t* out[kTileRows];
  for (std::int64_t row = 0; row < kTileRows; ++row) {
    const std::int64_t there = first + std::min(row, count - 1);
    seen[row] = rows.seen(there);
    out[row] = rows.out(there);
    if (row >= count) continue;
    for (std::int64_t part = 0; part < words / 16; ++part)
      std::memcpy(q.data() + part * kTile + row * 16, rows.q(there) + part * 32, 64);
  }
  prefill({q.data(), count, seen, packed.k.data(), packed.v.data(), cache.head_dim, out});
}

}  // namespace

void tiled_prefill_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                             Team& team, void (*prefill)(const TilePrefillTask&)) {
  PackedHead packed;
  for (const AttentionSequence& sequence : sequences) {
    const std::int64_t panels = (sequence.total + kTilePanel - 1) / kTilePanel;
    packed.k.resize(static_cast<std::size_t>(panels * kTilePanel * cache.head_dim / 2));
    packed.v.resize(packed.k.size());
    for (std::int64_t kv_head = 0; kv_head < cache.kv_heads; ++kv_head) {
      const PrefillRows rows(cache, heads, sequence, kv_head);
      team.parallel(panels, [&](std::int64_t panel) { pack_panel(cache, rows, sequence.total, panel, packed); });
      team.parallel((rows.count() + kTileRows - 1) / kTileRows,
                    [&](std::int64_t part) { attend(cache, rows, packed, part * kTileRows, prefill); });
    }
  }
}

void amx_prefill_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                           Team& team) {
  tiled_prefill_attention(cache, heads, sequences, team, amx_prefill);
}

}  // namespace poolcast::kernels
