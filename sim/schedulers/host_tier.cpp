// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/host_tier.h"

namespace poolcast {

void HostTier::keep(std::uint64_t hash) {
  std::uint32_t block = index_.find(hash);
  if (block == newest_ && block != kNone) return;
  if (block == kNone) {
    block = take();
    blocks_[block].hash = hash;
    index_.insert(hash, block);
  } else {
    unlink(block);
  }
  append(block);
}

/// A place for a block: a new one, or that of the oldest.
std::uint32_t HostTier::take() {
  if (static_cast<std::int64_t>(blocks_.size()) < capacity_) {
    blocks_.emplace_back();
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  const std::uint32_t block = oldest_;
  unlink(block);
  index_.erase(blocks_[block].hash, block);
  return block;
}

void HostTier::unlink(std::uint32_t block) {
  const Block& b = blocks_[block];
  (b.older == kNone ? oldest_ : blocks_[b.older].newer) = b.newer;
  (b.newer == kNone ? newest_ : blocks_[b.newer].older) = b.older;
}

void HostTier::append(std::uint32_t block) {
  Block& b = blocks_[block];
  b.older = newest_;
  b.newer = kNone;
  (newest_ == kNone ? oldest_ : blocks_[newest_].newer) = block;
  newest_ = block;
}

}  // namespace poolcast
