// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/block_holders.h"

#include <algorithm>

#include "sim/take_place.h"

namespace poolcast::routing {

void BlockHolders::add(std::uint64_t hash, std::uint32_t holder) {
  std::uint32_t at = by_hash_.find(hash);
  if (at == HashIndex::kNone) {
    at = take_place(blocks_, free_);
    by_hash_.insert(hash, at);
  }
  blocks_[at].push_back(holder);
}

void BlockHolders::remove(std::uint64_t hash, std::uint32_t holder) {
  const std::uint32_t at = by_hash_.find(hash);
  auto& holders = blocks_[at];
  holders.erase(std::find(holders.begin(), holders.end(), holder));
  if (!holders.empty()) return;
  by_hash_.erase(hash, at);
  free_.push_back(at);
}

}  // namespace poolcast::routing
