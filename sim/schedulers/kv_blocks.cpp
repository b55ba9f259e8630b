// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/kv_blocks.h"

#include <algorithm>

namespace poolcast {
namespace {

constexpr std::size_t kAhead = 8;  // probes whose memory is asked for in advance

}  // namespace

KvBlocks::KvBlocks(std::int64_t block_size, std::int64_t usable, bool prefix_cache, RequestTable& table,
                   std::int64_t host_blocks)
    : block_size_(block_size),
      usable_(usable),
      free_(usable),
      caches_(prefix_cache),
      table_(table),
      host_(prefix_cache ? host_blocks : 0) {}

void KvBlocks::open_table(RequestId id) {
  if (!caches_) return;
  const SchedulerState& s = table_.state(id);
  constexpr std::uint64_t kOwn = std::uint64_t{1} << 63;
  table_.kv(id).open(table_.content(id), s.prompt_tokens, kOwn | s.rank);
}

// ---------------------------------------------------------------- looking up

KvBlocks::Match KvBlocks::match(RequestId id, std::int64_t tokens, bool drop_last) {
  Match m;
  if (!caches_) return m;
  found_.clear();
  last_hash_ = 0;
  KvTable& kv = table_.kv(id);
  const Content& content = table_.content(id);
  // What nobody else can hold was listed only if this request was preempted.
  const std::int64_t reach = table_.state(id).preemptions > 0 ? tokens - 1 : std::min(tokens - 1, kv.known());
  const auto limit = static_cast<std::size_t>(reach / block_size_);
  if (limit > 0) kv.hash(limit - 1, content, block_size_);  // hashes come cheapest many at a time
  for (std::size_t i = 0; i < std::min(2 * kAhead, limit); ++i) index_.prefetch(kv.hash(i, content, block_size_));
  for (std::size_t i = 0; i < limit; ++i) {
    if (i + 2 * kAhead < limit) index_.prefetch(kv.hash(i + 2 * kAhead, content, block_size_));
    const std::uint64_t hash = kv.hash(i, content, block_size_);
    const std::uint32_t block = index_.find(hash);
    if (block == kNone) break;
    found_.push_back(block);
    last_hash_ = hash;
    prefetch(block);
  }
  if (drop_last && !found_.empty()) {
    found_.pop_back();
    last_hash_ = found_.empty() ? 0 : kv.hash(found_.size() - 1, content, block_size_);
  }
  for (const std::uint32_t block : found_) {
    const Block& b = pool_[block];
    m.uncomputed += b.uncomputed;
    m.idle += b.users == 0;
  }
  m.blocks = static_cast<std::int64_t>(found_.size());
  return m;
}

std::int64_t KvBlocks::match_on_host(RequestId id, std::int64_t tokens, std::int64_t from) {
  KvTable& kv = table_.kv(id);
  const Content& content = table_.content(id);
  const std::int64_t reach = table_.state(id).preemptions > 0 ? tokens : std::min(tokens, kv.known());
  std::int64_t block = from;
  while (block < reach / block_size_ && host_.holds(kv.hash(static_cast<std::size_t>(block), content, block_size_))) {
    ++block;
  }
  return block - from;
}

bool KvBlocks::continued_by(RequestId other, std::int64_t tokens) {
  const std::int64_t full = tokens / block_size_;
  if (full == 0) return last_hash_ == 0;
  return last_hash_ == table_.kv(other).hash(static_cast<std::size_t>(full - 1), table_.content(other), block_size_);
}

// ---------------------------------------------------------------- giving

void KvBlocks::admit(RequestId id, std::int64_t end) {
  admit_empty(id, end);
  if (caches_) enter(id, end);
}

void KvBlocks::admit_empty(RequestId id, std::int64_t end) {
  if (!caches_) {
    free_ -= blocks(end);
    return;
  }
  KvTable& kv = table_.kv(id);
  kv.blocks = found_;
  kv.entered = found_.size();
  for (const std::uint32_t block : found_) {
    if (pool_[block].users++ == 0) {
      idle_.remove(block);
      --free_;
    }
  }
  const std::int64_t count = blocks(end) - static_cast<std::int64_t>(found_.size());
  free_ -= count;
  for (std::int64_t i = 0; i < count; ++i) kv.blocks.push_back(take());
}

void KvBlocks::grow(RequestId id, std::int64_t from, std::int64_t end) { extend(id, blocks(end) - blocks(from), end); }

void KvBlocks::extend(RequestId id, std::int64_t count, std::int64_t known) {
  free_ -= count;
  if (!caches_) return;
  KvTable& kv = table_.kv(id);
  for (std::int64_t i = 0; i < count; ++i) kv.blocks.push_back(take());
  enter(id, known);
}

void KvBlocks::settle(RequestId id, std::int64_t tokens) {
  if (!caches_) return;
  KvTable& kv = table_.kv(id);
  hand_out(kv, blocks(tokens) - static_cast<std::int64_t>(kv.blocks.size()));
  enter(id, tokens);
}

void KvBlocks::reserve(std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) spare_.push_back(take());
}

void KvBlocks::hand_out(KvTable& kv, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    kv.blocks.push_back(spare_.back());
    spare_.pop_back();
  }
}

/// The foremost block of the free queue; what was cached in it is lost.
std::uint32_t KvBlocks::take() {
  std::uint32_t block;
  if (!blank_.empty()) {
    block = blank_.back();
    blank_.pop_back();
  } else if (static_cast<std::int64_t>(pool_.size()) < usable_) {
    block = static_cast<std::uint32_t>(pool_.size());
    pool_.emplace_back();
  } else {
    block = idle_.pop();
    if (const std::uint32_t later = idle_.ahead(2 * kAhead); later != kNone) __builtin_prefetch(&pool_[later]);
    if (const std::uint32_t soon = idle_.ahead(kAhead); soon != kNone) index_.prefetch(pool_[soon].hash);
    if (pool_[block].hash > kUnlisted) unlist(block);
  }
  Block& b = pool_[block];
  b.hash = kNoHash;
  b.uncomputed = false;
  b.users = 1;
  return block;
}

// ---------------------------------------------------------------- the cache

/// Gives the full blocks among the first `tokens` tokens their hashes. Those that no other request can ask for are not
/// listed: nobody looks for them unless their request is preempted and comes back.
void KvBlocks::enter(RequestId id, std::int64_t tokens) {
  KvTable& kv = table_.kv(id);
  const auto full = static_cast<std::size_t>(tokens / block_size_);
  const std::int64_t known = kv.known();
  const Content& content = table_.content(id);
  for (; kv.entered < full; ++kv.entered) {
    const std::uint32_t block = kv.blocks[kv.entered];
    const bool listed = known == INT64_MAX || static_cast<std::int64_t>(kv.entered + 1) * block_size_ <= known;
    if (listed) {
      if (kv.entered + kAhead < full) index_.prefetch(kv.hash(kv.entered + kAhead, content, block_size_));
      list(block, kv.hash(kv.entered, content, block_size_));
    } else {
      pool_[block].hash = kUnlisted;
    }
  }
}

void KvBlocks::list(std::uint32_t block, std::uint64_t hash) {
  pool_[block].hash = hash;
  pool_[block].next_copy = kNone;
  const std::uint32_t first = index_.find(hash);
  if (first == kNone) return index_.insert(hash, block);
  std::uint32_t last = first;
  while (pool_[last].next_copy != kNone) last = pool_[last].next_copy;
  pool_[last].next_copy = block;
}

void KvBlocks::unlist(std::uint32_t block) {
  Block& b = pool_[block];
  const std::uint32_t first = index_.find(b.hash);
  if (first != block) {
    std::uint32_t before = first;
    while (pool_[before].next_copy != block) before = pool_[before].next_copy;
    pool_[before].next_copy = b.next_copy;
  } else if (b.next_copy != kNone) {
    index_.replace(b.hash, block, b.next_copy);
  } else {
    index_.erase(b.hash, block);
  }
  b.hash = kNoHash;
}

// ---------------------------------------------------------------- taking back

void KvBlocks::release(RequestId id, std::int64_t held, std::int64_t computed, Leaving how, bool keep_uncomputed) {
  if (!caches_) {
    free_ += blocks(held);
    return;
  }
  KvTable& kv = table_.kv(id);
  hand_out(kv, blocks(held) - static_cast<std::int64_t>(kv.blocks.size()));
  enter(id, keep_uncomputed ? held : computed);
  const auto done = static_cast<std::size_t>(computed / block_size_);
  for (std::size_t i = done; i < kv.entered; ++i) {  // given to it in this very step
    const std::uint32_t block = kv.blocks[i];
    if (keep_uncomputed) {
      pool_[block].uncomputed = true;
    } else if (pool_[block].hash > kUnlisted) {
      unlist(block);
    } else {
      pool_[block].hash = kNoHash;
    }
  }
  if (how == Leaving::kPreempted) {
    for (std::size_t i = 0; i < kv.blocks.size(); ++i) {
      if (pool_[kv.blocks[i]].hash == kUnlisted) list(kv.blocks[i], kv.hash(i, table_.content(id), block_size_));
    }
  }
  if (host_.on()) {
    for (std::size_t i = std::min(done, kv.entered); i-- > 0;) {
      host_.keep(kv.hash(i, table_.content(id), block_size_));
    }
  }
  const std::size_t blank = blank_.size();
  for (std::size_t i = kv.blocks.size(); i-- > 0;) {
    const std::uint32_t block = kv.blocks[i];
    if (i >= 2 * kAhead) prefetch(kv.blocks[i - 2 * kAhead]);
    if (--pool_[block].users > 0) continue;
    ++free_;
    if (pool_[block].hash == kNoHash) {
      blank_.push_back(block);
    } else {
      idle_.push(block);
    }
  }
  std::reverse(blank_.begin() + static_cast<std::ptrdiff_t>(blank), blank_.end());  // the tail block is foremost
  kv.blocks.clear();
  kv.entered = 0;
}

}  // namespace poolcast
