// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/schedulers/hash_index.h"

namespace poolcast::routing {

/// Which caches hold a block, by the block's hash.
class BlockHolders {
 public:
  /// In no order; empty: nobody.
  std::span<const std::uint32_t> of(std::uint64_t hash) const {
    const std::uint32_t at = by_hash_.find(hash);
    return at == HashIndex::kNone ? std::span<const std::uint32_t>() : blocks_[at];
  }
  /// `holder` does not hold it yet …
  void add(std::uint64_t hash, std::uint32_t holder);
  /// … and does.
  void remove(std::uint64_t hash, std::uint32_t holder);

 private:
  std::vector<std::vector<std::uint32_t>> blocks_;
  std::vector<std::uint32_t> free_;
  HashIndex by_hash_;
};

}  // namespace poolcast::routing
