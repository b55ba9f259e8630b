// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/huge_pages.h"

namespace poolcast {

/// Blocks or tree nodes by a 64-bit hash, which must be well mixed: open addressing with linear probing, grown by
/// doubling, so that its memory follows what it holds. Several may share a hash; who looks up tells them apart.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void insert(std::uint64_t hash, std::uint32_t node);
  void erase(std::uint64_t hash, std::uint32_t node);
  /// Puts `after` in the place of `before`.
  void replace(std::uint64_t hash, std::uint32_t before, std::uint32_t after);
  void clear();
  std::size_t size() const { return size_; }
  /// Asks for the memory that a lookup will touch.
  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask()]);
  }

  /// The first node under `hash`, or kNone.
  std::uint32_t find(std::uint64_t hash) const {
    return find(hash, [](std::uint32_t) { return true; });
  }
  /// The first node under `hash` for which `right(node)` holds, or kNone.
  template <class Right>
  std::uint32_t find(std::uint64_t hash, Right right) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash & mask(); slots_[at].node != kNone; at = (at + 1) & mask()) {
      if (slots_[at].hash == hash && right(slots_[at].node)) return slots_[at].node;
    }
    return kNone;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t node = kNone;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t place(std::uint64_t hash, std::uint32_t node) const;
  void grow();

  LargeVector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace poolcast
