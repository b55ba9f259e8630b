// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poolcast {

/// From the hash of a block to a block that holds it: open addressing with linear probing, grown by doubling, so that
/// its memory follows the blocks that are cached. Hashes must be well mixed already and are never 0.
class PrefixIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  PrefixIndex() : entries_(64), mask_(63) {}

  std::size_t size() const { return size_; }
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&entries_[hash & mask_]); }
  /// The block under this hash, or kNone.
  std::uint32_t find(std::uint64_t hash) const {
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      if (entries_[at].hash == hash) return entries_[at].block;
      if (entries_[at].hash == 0) return kNone;
    }
  }
  /// Where the block under this hash is noted; null when there is none. Valid until the next change.
  std::uint32_t* slot(std::uint64_t hash);
  /// Notes a block under a hash that has none.
  void insert(std::uint64_t hash, std::uint32_t block);
  void erase(std::uint64_t hash);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t block = 0;
  };
  void place(std::uint64_t hash, std::uint32_t block);
  void grow();

  std::vector<Entry> entries_;
  std::size_t mask_;
  std::size_t size_ = 0;
};

}  // namespace poolcast
