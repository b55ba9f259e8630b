// SPDX-License-Identifier: Apache-2.0
#include "sim/alias_table.h"

namespace poolcast {

AliasTable::AliasTable(const std::vector<double>& weights) : cells_(weights.size()) {
  double sum = 0;
  for (double w : weights) sum += w;
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    cells_[i].share = weights[i] / sum * static_cast<double>(weights.size());
    (cells_[i].share < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t poor = small.back(), rich = large.back();
    small.pop_back();
    cells_[poor].alias = rich;
    cells_[rich].share -= 1 - cells_[poor].share;
    if (cells_[rich].share < 1) large.pop_back(), small.push_back(rich);
  }
  // Rounding may leave full cells in either list. A weight of 0 is not among them: as long as its cell is open, the
  // others hold more than one share each on average, so that one of them is in `large`.
  for (const auto* left : {&small, &large}) {
    for (std::size_t i : *left) cells_[i].share = 1;
  }
}

}  // namespace poolcast
