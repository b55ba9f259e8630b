// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which tile of which product a persistent block computes next. Producer and consumers walk the same list on their
/// own, so that they never have to tell each other. Plain C++, tested on any machine.
namespace poolcast::cuda {

/// Rows of a tile of every matrix product here.
constexpr int kProductTileRows = 128;

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

struct TileCoordinates {
  int m = 0;  ///< tile row
  int n = 0;  ///< tile column
};

/// Order of the tiles of one product: bands of `band` tile rows, walked column by column, so that the blocks that run
/// at the same time share both operands in the L2 cache (a plain row order shares A alone).
constexpr TileCoordinates banded_tile(int index, int tiles_m, int tiles_n, int band) {
  const int per_band = band * tiles_n;
  const int first_row = index / per_band * band;
  const int rows = tiles_m - first_row < band ? tiles_m - first_row : band;
  const int inside = index % per_band;
  return {first_row + inside % rows, inside / rows};
}

struct GroupTile {
  int group = 0;      ///< product (expert)
  int row_begin = 0;  ///< first row of the tile in the stacked A and C
  int row_end = 0;    ///< one past the group's last row: rows from here on belong to another group
  int n = 0;          ///< tile column
};

/// Walks the tiles of a grouped product: group g has rows offsets[g] to offsets[g + 1] of the stacked A. Tiles are
/// numbered group after group; empty groups have none. `seek` must be called with growing indices: the cursor only
/// moves forward, so a whole walk costs one pass over the groups.
class GroupCursor {
 public:
  constexpr GroupCursor(const int* offsets, int groups, int tile_m, int tiles_n, int band)
      : offsets_(offsets), groups_(groups), tile_m_(tile_m), tiles_n_(tiles_n), band_(band) {}

  /// False when there is no tile of that index.
  constexpr bool seek(int index, GroupTile& tile) {
    while (group_ < groups_) {
      const int begin = offsets_[group_], end = offsets_[group_ + 1];
      const int tiles_m = ceil_div(end - begin, tile_m_);
      if (index - before_ < tiles_m * tiles_n_) {
        const TileCoordinates at = banded_tile(index - before_, tiles_m, tiles_n_, band_);
        tile = {group_, begin + at.m * tile_m_, end, at.n};
        return true;
      }
      before_ += tiles_m * tiles_n_;
      ++group_;
    }
    return false;
  }

 private:
  const int* offsets_;
  int groups_, tile_m_, tiles_n_, band_;
  int group_ = 0;
  int before_ = 0;  // tiles of the groups passed
};

/// Tiles that causal attention of `queries` new tokens after `context` old ones must read for the query rows up to
/// `last_row` (counted from the first new token): keys 0 to context + last_row.
constexpr int causal_key_tiles(int context, int queries, int last_row, int tile_keys) {
  const int row = last_row < queries ? last_row : queries - 1;
  return ceil_div(context + row + 1, tile_keys);
}

}  // namespace poolcast::cuda
