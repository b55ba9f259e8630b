// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/hash_index.h"

#include <utility>

namespace poolcast {

void HashIndex::insert(std::uint64_t hash, std::uint32_t node) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  std::size_t at = hash & mask();
  while (slots_[at].node != kNone) at = (at + 1) & mask();
  slots_[at] = {hash, node};
  ++size_;
}

std::size_t HashIndex::place(std::uint64_t hash, std::uint32_t node) const {
  std::size_t at = hash & mask();
  while (slots_[at].node != node) at = (at + 1) & mask();
  return at;
}

void HashIndex::replace(std::uint64_t hash, std::uint32_t before, std::uint32_t after) {
  slots_[place(hash, before)].node = after;
}

/// Closes the hole by moving up what had to probe past it (Knuth, volume 3, 6.4, algorithm R).
void HashIndex::erase(std::uint64_t hash, std::uint32_t node) {
  std::size_t hole = place(hash, node);
  for (std::size_t at = (hole + 1) & mask(); slots_[at].node != kNone; at = (at + 1) & mask()) {
    const std::size_t home = slots_[at].hash & mask();
    if (((at - home) & mask()) < ((at - hole) & mask())) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole].node = kNone;
  --size_;
}

void HashIndex::clear() {
  slots_.clear();
  size_ = 0;
}

void HashIndex::grow() {
  LargeVector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
  std::swap(old, slots_);
  for (const Slot& slot : old) {
    if (slot.node == kNone) continue;
    std::size_t at = slot.hash & mask();
    while (slots_[at].node != kNone) at = (at + 1) & mask();
    slots_[at] = slot;
  }
}

}  // namespace poolcast
