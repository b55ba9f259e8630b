// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention/amx_prefill.h"
#include "kernels/bf16.h"
#include "kernels/power.h"
#include "kernels/repeat.h"

/// Prefill attention by tiles, a template of the tile functions (amx/tiles.h), local to the including source. Scores
/// are rows by tokens, so that weights come out as the left operand of the second product needs them.
namespace poolcast::kernels {
namespace {

constexpr std::int64_t kPrefillTile = 256;      // words
constexpr std::int64_t kMostPrefillParts = 16;  // head_dim / 16

struct TilePrefillState {
  alignas(64) float sums[kMostPrefillParts][16][16] = {};  // [outputs / 16][row][output]
  alignas(64) float scores[4][16][16];                     // [tokens / 16][row][token]
  alignas(64) std::uint16_t weights[2][16][32];            // [tokens / 32][row][token]
  float most[16], total[16];
};

/// 16 rows by 64 tokens: each tile of the query is used four times.
template <class Tiles>
inline void prefill_scores(const TilePrefillTask& task, const std::uint32_t* k, TilePrefillState& state) {
  repeat<4>([&](auto i) { Tiles::template zero<i.value>(); });
  for (std::int64_t part = 0; part < task.head_dim / 32; ++part) {
    Tiles::template load<4>(task.q + part * kPrefillTile, 64);
    repeat<4>([&](auto i) {
      Tiles::template load<6 + i.value % 2>(k + (part * 4 + i) * kPrefillTile, 64);
      Tiles::template multiply_bf16<i.value, 4, 6 + i.value % 2>();
    });
  }
  repeat<4>([&](auto i) { Tiles::template store<i.value>(state.scores[i], 64); });
}

/// Scores of a row become weights; what it has summed before is scaled to the greatest score so far. Tokens that it
/// does not see weigh nothing.
inline void prefill_weigh(const TilePrefillTask& task, TilePrefillState& state, int row, std::int64_t first) {
  const float scale = 1 / __builtin_sqrtf(static_cast<float>(task.head_dim));
  const std::int64_t there = task.seen[row] - first;
  float score[kTilePanel];
  for (int t = 0; t < kTilePanel; ++t) {
    const float value = state.scores[t / 16][row][t % 16] * scale;
    score[t] = t < there ? value : -1e30f;
  }
  float lanes[16];
  for (int i = 0; i < 16; ++i) lanes[i] = state.most[row];
  for (int t = 0; t < kTilePanel; t += 16)
    for (int i = 0; i < 16; ++i) lanes[i] = score[t + i] > lanes[i] ? score[t + i] : lanes[i];
  float most = lanes[0];
  for (int i = 1; i < 16; ++i) most = lanes[i] > most ? lanes[i] : most;
  const float shrink = power(state.most[row] - most);
  state.most[row] = most;
  float sums[16] = {};
  for (int t = 0; t < kTilePanel; t += 16)
    for (int i = 0; i < 16; ++i) {
      const float weight = t + i < there ? power(score[t + i] - most) : 0;
      sums[i] += weight;
      state.weights[t / 32][row][t % 32 + i] = to_bf16(weight).bits;
    }
  float total = state.total[row] * shrink;
  for (float sum : sums) total += sum;
  state.total[row] = total;
  if (shrink != 1)
    for (std::int64_t part = 0; part < task.head_dim / 16; ++part)
      for (int i = 0; i < 16; ++i) state.sums[part][row][i] *= shrink;
}

/// Weighted rows of V: the two tiles of weights stay in tiles 4 and 5.
template <class Tiles>
inline void prefill_add(const TilePrefillTask& task, const std::uint32_t* v, TilePrefillState& state) {
  Tiles::template load<4>(state.weights[0], 64);
  Tiles::template load<5>(state.weights[1], 64);
  for (std::int64_t part = 0; part < task.head_dim / 16; part += 2)
    repeat<2>([&](auto i) {
      Tiles::template load<i.value>(state.sums[part + i], 64);
      Tiles::template load<6>(v + (part + i) * 2 * kPrefillTile, 64);
      Tiles::template multiply_bf16<i.value, 4, 6>();
      Tiles::template load<7>(v + ((part + i) * 2 + 1) * kPrefillTile, 64);
      Tiles::template multiply_bf16<i.value, 5, 7>();
      Tiles::template store<i.value>(state.sums[part + i], 64);
    });
}

template <class Tiles>
inline void tile_prefill(const TilePrefillTask& task) {
  TilePrefillState state;
  for (int row = 0; row < 16; ++row) state.most[row] = -1e30f, state.total[row] = 0;
  Tiles::begin();
  const std::int64_t panel_words = task.head_dim / 2 * kTilePanel;
  for (std::int64_t first = 0; first < task.seen[15]; first += kTilePanel) {
    const std::int64_t at = first / kTilePanel * panel_words;
    prefill_scores<Tiles>(task, task.k + at, state);
    for (int row = 0; row < 16; ++row) prefill_weigh(task, state, row, first);
    prefill_add<Tiles>(task, task.v + at, state);
  }
  Tiles::end();
  for (std::int64_t row = 0; row < task.rows; ++row)
    for (std::int64_t d = 0; d < task.head_dim; ++d)
      task.out[row][d] = to_bf16(state.sums[d / 16][row][d % 16] / state.total[row]).bits;
}

}  // namespace
}  // namespace poolcast::kernels
