// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention/amx_decode.h"
#include "kernels/bf16.h"
#include "kernels/power.h"
#include "kernels/repeat.h"

/// Decode attention by tiles, a template of the tile functions (amx/tiles.h), local to the including source.
///
/// Scores are made transposed, tokens by heads: then rows of K are the left operand as they lie in the cache, and only
/// the query is packed. V is interleaved, two tokens to a word, chunk by chunk, for all heads together.
namespace poolcast::kernels {
namespace {

constexpr std::int64_t kTileChunk = 64, kTile = 256;  // tokens of a chunk; words of a tile
constexpr std::int64_t kMostOutputs = 256;            // head_dim

struct TileDecodeState {
  alignas(64) float sums[kMostOutputs / 16][16][16] = {};  // [outputs / 16][head][output]
  alignas(64) float most[16], total[16];
  alignas(64) float scores[kTileChunk][16];                        // [token][head]
  alignas(64) std::uint16_t weights[2][16][32];                    // [tokens / 32][head][token]
  alignas(64) std::uint32_t values[kMostOutputs / 16][2][16][16];  // [outputs / 16][tokens / 32][pair][output]
  const std::uint16_t* v[kTileChunk];
  std::int64_t count;
};

/// Scores of 64 tokens: four tiles of sums share each tile of the query.
template <class Tiles>
inline void tile_scores(const TileDecodeTask& task, TileDecodeState& state, std::int64_t first) {
  const std::uint16_t* rows[4];
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t token = 16 * i < state.count ? first + 16 * i : first;  // beyond the end: anything, not used
    rows[i] = task.k + task.blocks[token / task.block] * task.block_elements + token % task.block * task.head_dim;
  }
  repeat<4>([&](auto i) { Tiles::template zero<i.value>(); });
  for (std::int64_t d = 0; d < task.head_dim; d += 32) {
    Tiles::template load<6>(task.q + d / 32 * kTile, 64);
    repeat<4>([&](auto i) {
      Tiles::template load<4 + i.value % 2>(rows[i] + d, task.head_dim * 2);
      Tiles::template multiply_bf16<i.value, 4 + i.value % 2, 6>();
    });
  }
  repeat<4>([&](auto i) { Tiles::template store<i.value>(state.scores[16 * i], 64); });
}

/// Scores become weights, all heads side by side; what was summed before is scaled to the greatest score so far.
inline void tile_weigh(const TileDecodeTask& task, TileDecodeState& state) {
  const float scale = 1 / __builtin_sqrtf(static_cast<float>(task.head_dim));
  float most[16], shrink[16];
  for (int h = 0; h < 16; ++h) most[h] = state.most[h];
  for (std::int64_t t = 0; t < state.count; ++t)
    for (int h = 0; h < 16; ++h) {
      const float score = state.scores[t][h] * scale;
      most[h] = score > most[h] ? score : most[h];
    }
  for (int h = 0; h < 16; ++h) {
    shrink[h] = power(state.most[h] - most[h]);
    state.most[h] = most[h];
    state.total[h] *= shrink[h];
  }
  for (std::int64_t t = 0; t < kTileChunk; ++t) {
    float weight[16];
    for (int h = 0; h < 16; ++h) weight[h] = t < state.count ? power(state.scores[t][h] * scale - most[h]) : 0;
    for (int h = 0; h < 16; ++h) state.total[h] += weight[h];
    for (int h = 0; h < 16; ++h) state.weights[t / 32][h][t % 32] = to_bf16(weight[h]).bits;
  }
  for (std::int64_t part = 0; part < task.head_dim / 16; ++part)
    for (int h = 0; h < 16; ++h)
      for (int i = 0; i < 16; ++i) state.sums[part][h][i] *= shrink[h];
}

/// Rows beyond the end count as zero: their weights are zero, but zero times NaN is not.
inline void interleave(const TileDecodeTask& task, TileDecodeState& state, std::int64_t first) {
  alignas(64) static constexpr std::uint16_t kZero[kMostOutputs] = {};
  for (std::int64_t t = 0; t < kTileChunk; ++t) {
    const std::int64_t token = first + t;
    state.v[t] = t >= state.count ? kZero
                                  : task.v + task.blocks[token / task.block] * task.block_elements +
                                        token % task.block * task.head_dim;
  }
  for (std::int64_t pair = 0; pair < kTileChunk / 2; ++pair) {
    const std::uint16_t *even = state.v[2 * pair], *odd = state.v[2 * pair + 1];
    for (std::int64_t part = 0; part < task.head_dim / 16; ++part) {
      std::uint32_t* out = state.values[part][pair / 16][pair % 16];
      for (int i = 0; i < 16; ++i) out[i] = even[16 * part + i] | static_cast<std::uint32_t>(odd[16 * part + i]) << 16;
    }
  }
}

/// Weighted rows of V, 32 outputs at a time: two tiles of sums share the weights, which stay in tiles 4 and 5.
template <class Tiles>
inline void tile_add(const TileDecodeTask& task, TileDecodeState& state) {
  Tiles::template load<4>(state.weights[0], 64);
  Tiles::template load<5>(state.weights[1], 64);
  for (std::int64_t part = 0; part < task.head_dim / 16; part += 2) {
    repeat<2>([&](auto i) {
      Tiles::template load<i.value>(state.sums[part + i], 64);
      Tiles::template load<6>(state.values[part + i][0], 64);
      Tiles::template multiply_bf16<i.value, 4, 6>();
      Tiles::template load<7>(state.values[part + i][1], 64);
      Tiles::template multiply_bf16<i.value, 5, 7>();
      Tiles::template store<i.value>(state.sums[part + i], 64);
    });
  }
}

/// Asks for the rows of the chunk after this one.
inline void ask_for_chunk(const TileDecodeTask& task, std::int64_t first) {
  for (std::int64_t token = first; token < first + kTileChunk && token < task.total; ++token) {
    const std::int64_t row = task.blocks[token / task.block] * task.block_elements + token % task.block * task.head_dim;
    for (std::int64_t d = 0; d < task.head_dim; d += 32) {
      __builtin_prefetch(task.k + row + d, 0, 2);
      __builtin_prefetch(task.v + row + d, 0, 2);
    }
  }
}

template <class Tiles>
inline void tile_decode(const TileDecodeTask& task) {
  TileDecodeState state;
  for (int h = 0; h < 16; ++h) state.most[h] = -1e30f, state.total[h] = 0;
  Tiles::begin();
  for (std::int64_t first = 0; first < task.total; first += kTileChunk) {
    state.count = task.total - first < kTileChunk ? task.total - first : kTileChunk;
    ask_for_chunk(task, first + kTileChunk);
    tile_scores<Tiles>(task, state, first);
    tile_weigh(task, state);
    interleave(task, state, first);
    tile_add<Tiles>(task, state);
  }
  Tiles::end();
  for (std::int64_t h = 0; h < task.group; ++h)
    for (std::int64_t d = 0; d < task.head_dim; ++d)
      task.out[h * task.head_dim + d] = to_bf16(state.sums[d / 16][h][d % 16] / state.total[h]).bits;
}

}  // namespace
}  // namespace poolcast::kernels
