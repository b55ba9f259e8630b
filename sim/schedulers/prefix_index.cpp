// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/prefix_index.h"

#include <utility>

namespace poolcast {

std::uint32_t* PrefixIndex::slot(std::uint64_t hash) {
  for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
    if (entries_[at].hash == hash) return &entries_[at].block;
    if (entries_[at].hash == 0) return nullptr;
  }
}

void PrefixIndex::insert(std::uint64_t hash, std::uint32_t block) {
  if (2 * ++size_ > entries_.size()) grow();
  place(hash, block);
}

void PrefixIndex::place(std::uint64_t hash, std::uint32_t block) {
  std::size_t at = hash & mask_;
  while (entries_[at].hash != 0) at = (at + 1) & mask_;
  entries_[at] = {hash, block};
}

void PrefixIndex::grow() {
  std::vector<Entry> old(2 * entries_.size());
  std::swap(old, entries_);
  mask_ = entries_.size() - 1;
  for (const Entry& e : old) {
    if (e.hash != 0) place(e.hash, e.block);
  }
}

/// Closes the gap by moving back what was pushed past it (Knuth, TAOCP 3, 6.4, algorithm R).
void PrefixIndex::erase(std::uint64_t hash) {
  std::size_t gap = hash & mask_;
  while (entries_[gap].hash != hash) gap = (gap + 1) & mask_;
  --size_;
  for (std::size_t at = (gap + 1) & mask_; entries_[at].hash != 0; at = (at + 1) & mask_) {
    const std::size_t home = entries_[at].hash & mask_;
    if (((at - home) & mask_) < ((at - gap) & mask_)) continue;  // it lies between its home and the gap's far side
    entries_[gap] = entries_[at];
    gap = at;
  }
  entries_[gap].hash = 0;
}

}  // namespace poolcast
