// SPDX-License-Identifier: Apache-2.0
#include "sim/alias_table.h"

#include <algorithm>

namespace poolcast {

AliasTable::AliasTable(const std::vector<double>& weights) : cells_(weights.size()) {
  double sum = 0;
  for (double w : weights) sum += w;
  const auto heaviest = static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    cells_[i].share = weights[i] / sum * static_cast<double>(weights.size());
    cells_[i].alias = heaviest;
    (cells_[i].share < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t poor = small.back(), rich = large.back();
    small.pop_back();
    cells_[poor].alias = rich;
    cells_[rich].share -= 1 - cells_[poor].share;
    if (cells_[rich].share < 1) large.pop_back(), small.push_back(rich);
  }
  // What rounding leaves over is full, except that a weight of 0 stays out of reach.
  for (std::size_t i : large) cells_[i].share = 1;
  for (std::size_t i : small) {
    if (weights[i] > 0) cells_[i].share = 1;
  }
}

}  // namespace poolcast
