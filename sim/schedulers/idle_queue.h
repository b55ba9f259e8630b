// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/huge_pages.h"

namespace poolcast {

/// Blocks that nobody uses, in the order in which they will be taken: a ring of places, so that who takes them can see
/// which come next. One that leaves from the middle leaves a hole; the ring is packed when it is full.
class IdleQueue {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bool empty() const { return size_ == 0; }
  void push(std::uint32_t block);
  void remove(std::uint32_t block) {
    ring_[place_[block]] = kNone;
    --size_;
  }
  /// Asks for the memory that `push` and `remove` will touch.
  void prefetch(std::uint32_t block) const {
    if (block < place_.size()) __builtin_prefetch(&place_[block]);
  }
  /// The foremost. Not when it is empty.
  std::uint32_t pop();
  /// The block `distance` places behind the front; kNone where there is a hole or the end.
  std::uint32_t ahead(std::size_t distance) const {
    return head_ + distance < tail_ ? ring_[(head_ + distance) & mask()] : kNone;
  }

 private:
  std::size_t mask() const { return ring_.size() - 1; }
  void pack();

  LargeVector<std::uint32_t> ring_;   ///< a power of two
  LargeVector<std::uint32_t> place_;  ///< in the ring, by block
  std::size_t head_ = 0, tail_ = 0;   ///< count places without end
  std::size_t size_ = 0;
};

}  // namespace poolcast
