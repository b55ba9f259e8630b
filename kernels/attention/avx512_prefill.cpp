// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/avx512_prefill.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/attention/prefill_rows.h"

namespace poolcast::kernels {
namespace {

constexpr std::int64_t kRowsOfATask = 48;  // their sums and a panel stay in the second cache

struct PackedHead {
  std::vector<std::uint32_t> k, v;  // panels as PrefillTask wants them
};

/// Tokens beyond the last become zero: their weights are zero, but zero times NaN is not.
void pack_panel(const KvCache& cache, const PrefillRows& rows, std::int64_t total, std::int64_t panel,
                PackedHead& packed) {
  const std::int64_t words = cache.head_dim / 2, first = panel * kPrefillPanel;
  std::uint32_t* k = packed.k.data() + panel * words * kPrefillPanel;
  std::uint32_t* v = packed.v.data() + panel * words * kPrefillPanel;
  const std::int64_t count = std::min(kPrefillPanel, total - first);
  for (std::int64_t t = 0; t < count; ++t) {
    const std::uint16_t* key = rows.in_cache(cache.k, first + t);
    for (std::int64_t word = 0; word < words; ++word) std::memcpy(k + word * kPrefillPanel + t, key + 2 * word, 4);
  }
  for (std::int64_t t = count; t < kPrefillPanel; ++t)
    for (std::int64_t word = 0; word < words; ++word) k[word * kPrefillPanel + t] = 0;
  for (std::int64_t pair = 0; pair < kPrefillPanel / 2; ++pair) {
    std::uint32_t* out = v + pair * cache.head_dim;
    if (2 * pair >= count) {
      std::fill_n(out, cache.head_dim, 0u);
      continue;
    }
    const std::uint16_t* even = rows.in_cache(cache.v, first + 2 * pair);
    const std::uint16_t* odd = 2 * pair + 1 < count ? rows.in_cache(cache.v, first + 2 * pair + 1) : nullptr;
    for (std::int64_t d = 0; d < cache.head_dim; ++d) out[d] = even[d] | (odd ? std::uint32_t{odd[d]} << 16 : 0u);
  }
}

void attend(const KvCache& cache, const PrefillRows& rows, const PackedHead& packed, std::int64_t first) {
  const std::int64_t count = std::min(kRowsOfATask, rows.count() - first), words = cache.head_dim / 2;
  thread_local std::vector<std::uint32_t> q;
  thread_local std::vector<float> state;
  q.resize(static_cast<std::size_t>(count * words));
  state.resize(static_cast<std::size_t>(count * (cache.head_dim + 32)));
  std::int64_t seen[kRowsOfATask];
  std::uint16_t* out[kRowsOfATask];
  for (std::int64_t row = 0; row < count; ++row) {
    std::memcpy(q.data() + row * words, rows.q(first + row), static_cast<std::size_t>(words * 4));
    seen[row] = rows.seen(first + row);
    out[row] = rows.out(first + row);
  }
  avx512_prefill({q.data(), count, seen, packed.k.data(), packed.v.data(), cache.head_dim, state.data(), out});
}

}  // namespace

void avx512_prefill_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                              Team& team) {
  thread_local PackedHead packed;
  PackedHead& shared = packed;  // the caller's, for all threads of the team
  for (const AttentionSequence& sequence : sequences) {
    const std::int64_t panels = (sequence.total + kPrefillPanel - 1) / kPrefillPanel;
    const auto words = static_cast<std::size_t>(panels * kPrefillPanel * cache.head_dim / 2);
    shared.k.resize(words);
    shared.v.resize(words);
    for (std::int64_t kv_head = 0; kv_head < cache.kv_heads; ++kv_head) {
      const PrefillRows rows(cache, heads, sequence, kv_head);
      team.parallel(panels, [&](std::int64_t panel) { pack_panel(cache, rows, sequence.total, panel, shared); });
      team.parallel((rows.count() + kRowsOfATask - 1) / kRowsOfATask,
                    [&](std::int64_t part) { attend(cache, rows, shared, part * kRowsOfATask); });
    }
  }
}

}  // namespace poolcast::kernels
