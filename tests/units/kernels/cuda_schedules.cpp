// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "kernels/cuda/paged.h"
#include "kernels/cuda/tiles.h"

namespace {

using namespace poolcast::cuda;

TEST_CASE("banded order visits every tile of a product once, whatever the shape") {
  for (int tiles_m : {1, 5, 8, 9, 17}) {
    for (int tiles_n : {1, 3, 16}) {
      std::set<std::pair<int, int>> seen;
      for (int i = 0; i < tiles_m * tiles_n; ++i) {
        const TileCoordinates at = banded_tile(i, tiles_m, tiles_n, 8);
        CHECK((at.m >= 0 && at.m < tiles_m && at.n >= 0 && at.n < tiles_n));
        seen.insert({at.m, at.n});
      }
      CHECK(static_cast<int>(seen.size()) == tiles_m * tiles_n);
    }
  }
}

TEST_CASE("persistent blocks together compute every tile of every group once, empty groups have none") {
  const std::vector<int> offsets = {0, 0, 130, 131, 131, 400, 1700, 1700};
  constexpr int kTileRows = 128, kTilesN = 3, kBlocks = 13, kGroups = 7;
  std::map<std::pair<int, int>, int> times;  // (row, tile column)
  for (int block = 0; block < kBlocks; ++block) {
    GroupCursor cursor(offsets.data(), kGroups, kTileRows, kTilesN, 8);
    GroupTile tile;
    for (int index = block; cursor.seek(index, tile); index += kBlocks) {
      CHECK(tile.row_end == offsets[static_cast<std::size_t>(tile.group) + 1]);
      CHECK(tile.row_begin >= offsets[static_cast<std::size_t>(tile.group)]);
      for (int row = tile.row_begin; row < tile.row_end && row < tile.row_begin + kTileRows; ++row)
        ++times[{row, tile.n}];
    }
  }
  CHECK(times.size() == 1700 * kTilesN);
  for (const auto& [where, count] : times) CHECK(count == 1);
}

TEST_CASE("causal attention reads the tiles up to the last row's own token and no more") {
  CHECK(causal_key_tiles(0, 1, 127, 128) == 1);
  CHECK(causal_key_tiles(0, 300, 127, 128) == 1);
  CHECK(causal_key_tiles(0, 300, 255, 128) == 2);
  CHECK(causal_key_tiles(0, 300, 383, 128) == 3);  // rows end at 300
  CHECK(causal_key_tiles(127, 1, 127, 128) == 1);
  CHECK(causal_key_tiles(128, 1, 127, 128) == 2);
}

TEST_CASE("a paged offset follows the block table and the strides") {
  const int table[] = {7, 2};
  const PagedStrides strides{16 * 8 * 128, 8 * 128, 128};  // [block][token][head][dim]
  CHECK(paged_offset(table, 16, strides, 0, 0) == 7 * 16 * 8 * 128);
  CHECK(paged_offset(table, 16, strides, 17, 3) == ((2 * 16 + 1) * 8 + 3) * 128);
}

TEST_CASE("splits cover a sequence once, in whole grains") {
  for (int tokens : {1, 15, 16, 1000, 4097}) {
    for (int splits : {1, 3, 64}) {
      int next = 0;
      for (int split = 0; split < splits; ++split) {
        const TokenRange range = split_range(tokens, splits, split, 16);
        if (range.begin >= range.end) continue;
        CHECK(range.begin == next);
        CHECK(range.begin % 16 == 0);
        next = range.end;
      }
      CHECK(next == tokens);
    }
  }
}

TEST_CASE("decode is split until the device is full and no further") {
  CHECK(choose_splits(100'000, 8, 132, 192) == 33);
  CHECK(choose_splits(100'000, 1000, 132, 192) == 1);
  CHECK(choose_splits(300, 1, 132, 192) == 2);
  CHECK(choose_splits(1'000'000, 1, 132, 192) == 64);
}

float power_of_two(float x) { return std::exp2(x); }

TEST_CASE("softmax in parts, joined, is the softmax of the whole; empty parts change nothing") {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  std::mt19937 random(7);
  std::vector<float> scores(100), values(100);
  for (float& x : scores) x = static_cast<float>(random() % 4000) / 100 - 20;
  for (float& x : values) x = static_cast<float>(random() % 200) / 100 - 1;
  double whole_sum = 0, whole = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    whole_sum += std::exp2(static_cast<double>(scores[i]));
    whole += std::exp2(static_cast<double>(scores[i])) * static_cast<double>(values[i]);
  }
  float joint = kNone, sum = 0, value = 0;
  for (int split = 0; split < 9; ++split) {  // seven grains: two parts are empty
    float part_max = kNone, part_sum = 0, part_value = 0;
    const TokenRange range = split_range(100, 9, split, 16);
    for (int i = range.begin; i < range.end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float larger = std::max(part_max, scores[at]), keep = rescale(part_max, larger, power_of_two);
      part_sum = part_sum * keep + std::exp2(scores[at] - larger);
      part_value = part_value * keep + std::exp2(scores[at] - larger) * values[at];
      part_max = larger;
    }
    const float larger = std::max(joint, part_max);
    const float keep = rescale(joint, larger, power_of_two), take = rescale(part_max, larger, power_of_two);
    sum = sum * keep + part_sum * take;
    value = value * keep + part_value * take;
    joint = larger;
  }
  CHECK(static_cast<double>(value / sum) == Approx(whole / whole_sum).epsilon(1e-4));
}

}  // namespace
