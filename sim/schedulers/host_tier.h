// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedulers/hash_index.h"

namespace poolcast {

/// KV blocks that are also kept in the memory of the host (vLLM's native offloading): by hash, least recently used out
/// first.
class HostTier {
 public:
  explicit HostTier(std::int64_t capacity) : capacity_(capacity) {}

  bool on() const { return capacity_ > 0; }
  bool holds(std::uint64_t hash) const { return index_.find(hash) != kNone; }
  /// Keeps a block, as the one used last.
  void keep(std::uint64_t hash);
  std::int64_t size() const { return static_cast<std::int64_t>(index_.size()); }

 private:
  static constexpr std::uint32_t kNone = HashIndex::kNone;
  struct Block {
    std::uint64_t hash = 0;
    std::uint32_t older = kNone, newer = kNone;
  };

  std::uint32_t take();
  void unlink(std::uint32_t block);
  void append(std::uint32_t block);

  std::int64_t capacity_;
  HashIndex index_;
  std::vector<Block> blocks_;
  std::uint32_t oldest_ = kNone, newest_ = kNone;
};

}  // namespace poolcast
