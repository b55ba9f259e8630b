// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/idle_queue.h"

#include <utility>

namespace poolcast {

void IdleQueue::push(std::uint32_t block) {
  if (tail_ - head_ == ring_.size()) pack();
  if (place_.size() <= block) place_.resize(block + 1);
  const std::size_t at = tail_++ & mask();
  ring_[at] = block;
  place_[block] = static_cast<std::uint32_t>(at);
  ++size_;
}

std::uint32_t IdleQueue::pop() {
  while (ring_[head_ & mask()] == kNone) ++head_;
  --size_;
  return ring_[head_++ & mask()];
}

/// Leaves at least half of the ring free.
void IdleQueue::pack() {
  std::size_t room = 64;
  while (room < 2 * (size_ + 1)) room *= 2;
  LargeVector<std::uint32_t> packed(room);
  std::size_t count = 0;
  for (std::size_t at = head_; at < tail_; ++at) {
    const std::uint32_t block = ring_[at & mask()];
    if (block == kNone) continue;
    place_[block] = static_cast<std::uint32_t>(count);
    packed[count++] = block;
  }
  std::swap(ring_, packed);
  head_ = 0;
  tail_ = count;
}

}  // namespace poolcast
