// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/random.h"

namespace poolcast {

/// Draws an index with given weights in constant time (Walker's alias method, built as by Vose 1991).
class AliasTable {
 public:
  AliasTable() = default;
  /// `weights` are finite and not negative, with a positive sum. An entry of weight 0 is never drawn.
  explicit AliasTable(const std::vector<double>& weights);

  bool empty() const { return cells_.empty(); }
  /// An index below the number of weights. Takes one number of the stream.
  std::size_t draw(RandomStream& random) const {
    __extension__ using u128 = unsigned __int128;
    const u128 product = static_cast<u128>(random.next()) * cells_.size();
    const Cell& cell = cells_[static_cast<std::size_t>(product >> 64)];
    const double place = static_cast<double>(static_cast<std::uint64_t>(product) >> 11) * 0x1.0p-53;
    return place < cell.share ? static_cast<std::size_t>(product >> 64) : cell.alias;
  }

 private:
  struct Cell {
    double share = 1;  ///< of the cell that is its own index; the rest is `alias`
    std::size_t alias = 0;
  };
  std::vector<Cell> cells_;
};

}  // namespace poolcast
