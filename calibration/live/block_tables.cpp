// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/block_tables.h"

#include <cstdlib>
#include <numeric>

namespace poolcast {

BlockTables::BlockTables(std::int64_t blocks, std::int64_t block_size)
    : block_size_(block_size), free_(static_cast<std::size_t>(blocks)) {
  std::iota(free_.rbegin(), free_.rend(), 0);
}

std::span<const std::int32_t> BlockTables::grow(RequestId id, Tokens context, Tokens tokens) {
  std::vector<std::int32_t>& table = tables_[id.value];
  if (context == 0) {
    free_.insert(free_.end(), table.rbegin(), table.rend());
    table.clear();
  }
  const auto wanted = static_cast<std::size_t>((tokens + block_size_ - 1) / block_size_);
  while (table.size() < wanted) {
    if (free_.empty()) std::abort();  // the scheduler gave out more blocks than there are
    table.push_back(free_.back());
    free_.pop_back();
  }
  return table;
}

void BlockTables::forget(RequestId id) {
  const auto found = tables_.find(id.value);
  if (found == tables_.end()) return;
  free_.insert(free_.end(), found->second.rbegin(), found->second.rend());
  tables_.erase(found);
}

}  // namespace poolcast
