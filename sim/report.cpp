// SPDX-License-Identifier: Apache-2.0
#include "sim/report.h"

namespace poolcast {

Cell Report::total() const {
  Cell sum;
  for (const auto& row : cells) {
    for (const Cell& cell : row) sum.merge(cell);
  }
  return sum;
}

Cell Report::of_class(ClassId cls) const {
  Cell sum;
  for (const Cell& cell : cells[cls.value]) sum.merge(cell);
  return sum;
}

Cell Report::of_pool(PoolId pool) const {
  Cell sum;
  for (const auto& row : cells) sum.merge(row[pool.value]);
  return sum;
}

}  // namespace poolcast
