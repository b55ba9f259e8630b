// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/tensorrt_llm_blocks.h"

#include <algorithm>
#include <utility>

namespace poolcast {
namespace {

constexpr std::size_t kAhead = 8;                       ///< lookups whose memory is asked for in advance
constexpr std::uint64_t kOwn = std::uint64_t{1} << 63;  ///< tokens that are like no others are named after the request

}  // namespace

TrtBlocks::TrtBlocks(const TensorrtLlmArgs& args, RequestTable& table)
    : block_size_(args.tokens_per_block),
      usable_(args.num_blocks),
      free_(args.num_blocks),
      reuses_(args.enable_block_reuse),
      partial_(args.enable_block_reuse && args.enable_partial_reuse),
      table_(table) {}

void TrtBlocks::open_table(RequestId id) {
  if (!reuses_) return;
  const SchedulerState& s = table_.state(id);
  table_.kv(id).open(table_.content(id), s.prompt_tokens, kOwn | s.rank);
}

TrtBlocks::Sequence TrtBlocks::sequence(RequestId id) {
  const SchedulerState& s = table_.state(id);
  return {table_.kv(id), table_.content(id), s.prompt_tokens, kOwn | s.rank};
}

/// Nobody else can ask for any of its tokens, so they need not be listed unless it comes back.
bool TrtBlocks::nameless(const Sequence& s) const { return s.kv.known() == 0; }

// ---------------------------------------------------------------- looking up

TrtBlocks::Found TrtBlocks::look_up(RequestId id, std::int64_t tokens) {
  Found found;
  if (!reuses_) return found;
  const Sequence s = sequence(id);
  const std::int64_t full = tokens / block_size_;
  found.shareable = !nameless(s);
  if (!found.shareable && table_.state(id).preemptions == 0) {
    if (full > 0) found.next = s.kv.hash(0, s.content, block_size_);
    return found;
  }
  find_chain(s, full);
  found.blocks = static_cast<std::int64_t>(chain_.blocks.size());
  for (const std::uint32_t block : chain_.blocks) found.referenced += pool_[block].users > 0;
  if (found.blocks < full) found.next = s.kv.hash(chain_.blocks.size(), s.content, block_size_);
  return found;
}

/// Finds the nodes of the first `full` blocks, as far as there are any. The same question comes again and again, while
/// a prompt waits and when it starts.
void TrtBlocks::find_chain(const Sequence& s, std::int64_t full) {
  const auto found = static_cast<std::int64_t>(chain_.blocks.size());
  if (chain_.own == s.own && chain_.changes == changes_ && (full <= chain_.asked || found < chain_.asked)) {
    if (found > full) {
      chain_.blocks.resize(static_cast<std::size_t>(full));
      chain_.asked = full;
    }
    return;
  }
  chain_.own = s.own;
  chain_.changes = changes_;
  chain_.asked = full;
  chain_.blocks.clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(full); ++i) {
    if (i % kAhead == 0) {
      for (std::size_t k = i; k < std::min(i + kAhead, static_cast<std::size_t>(full)); ++k) {
        tree_.prefetch(s.kv.hash(k, s.content, block_size_));
      }
    }
    const std::uint32_t block = tree_.find(s.kv.hash(i, s.content, block_size_));
    if (block == kNone) return;
    chain_.blocks.push_back(block);
  }
}

// ---------------------------------------------------------------- giving

std::int64_t TrtBlocks::add_sequence(RequestId id, std::int64_t tokens) {
  const std::int64_t need = blocks(tokens);
  if (!reuses_) {
    if (need > free_) return -1;
    free_ -= need;
    return 0;
  }
  Sequence s = sequence(id);
  s.kv.blocks.clear();
  s.kv.entered = 0;
  const Found found = look_up(id, tokens - 1);  // the last token is always computed
  if (need - found.referenced > free_) return -1;
  std::int64_t reused = 0;
  if (!nameless(s) || table_.state(id).preemptions > 0) {
    for (const std::uint32_t block : chain_.blocks) claim(block);
    s.kv.blocks = chain_.blocks;
    s.kv.entered = chain_.blocks.size();
    reused = found.blocks * block_size_;
    if (partial_) reused += share_part(s, found.blocks, tokens - 1);
  }
  while (static_cast<std::int64_t>(s.kv.blocks.size()) < need) s.kv.blocks.push_back(take());
  return reused;
}

/// The block after the shared ones: a node that begins like it is copied, or taken over where nobody would miss it.
std::int64_t TrtBlocks::share_part(Sequence s, std::int64_t full, std::int64_t tokens) {
  const std::int64_t from = full * block_size_;
  const std::int64_t end = std::min(from + block_size_, tokens);
  if (from >= end) return 0;
  TrtTokens reader(s.content, s.prompt, s.own);
  reader.read(from, end, key_);
  const std::uint32_t parent = full == 0 ? TrtTree::kRoot : s.kv.blocks.back();
  const TrtTree::Shared shared = tree_.longest_shared(parent, key_);
  if (shared.block == kNone) return 0;
  if (pool_[shared.block].users > 0 || !tree_.leaf(shared.block)) {
    s.kv.blocks.push_back(take());
  } else {
    remove(shared.block);
    claim(shared.block);
    s.kv.blocks.push_back(shared.block);
  }
  return shared.tokens;
}

void TrtBlocks::open(std::int64_t count) {
  if (!reuses_) {
    free_ -= count;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) spare_.push_back(take());
}

// ---------------------------------------------------------------- the tree

void TrtBlocks::store_prompt(RequestId id, std::int64_t tokens) {
  if (!reuses_) return;
  const Sequence s = sequence(id);
  if (!nameless(s)) store(s, tokens, false, false);
}

/// Lists the blocks of the first `tokens` tokens; where the tree has an equal node already, that one stays. Unless the
/// request is paused, blocks that nobody else can ask for are left out, but for the first of them: what is above it is
/// no leaf.
void TrtBlocks::store(Sequence s, std::int64_t tokens, bool partial, bool paused) {
  const std::int64_t known = paused ? INT64_MAX : s.kv.known();
  const std::int64_t limit = known < tokens ? blocks(known) + 1 : INT64_MAX;
  const std::int64_t full = tokens / block_size_;
  TrtTokens reader(s.content, s.prompt, s.own);
  std::uint32_t parent = TrtTree::kRoot;
  // What was there before still is, unless a block of somebody else above it was taken.
  if (s.kv.entered > 0) parent = tree_.find(s.kv.hash(s.kv.entered - 1, s.content, block_size_));
  std::int64_t i = parent == kNone ? 0 : static_cast<std::int64_t>(s.kv.entered);
  for (; i < std::min(full, limit); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint64_t hash = s.kv.hash(at, s.content, block_size_);
    std::uint32_t node = tree_.find(hash);
    if (node == kNone) {
      node = s.kv.blocks[at];
      if (partial_) reader.read(i * block_size_, (i + 1) * block_size_, key_);
      insert(node, parent, hash);
    }
    parent = node;
  }
  s.kv.entered = static_cast<std::size_t>(i);
  if (!partial || tokens % block_size_ == 0 || full >= limit) return;
  reader.read(full * block_size_, tokens, key_);
  if (tree_.longest_shared(parent, key_).whole) return;
  insert(s.kv.blocks[static_cast<std::size_t>(full)], parent, 0);
}

void TrtBlocks::insert(std::uint32_t block, std::uint32_t parent, std::uint64_t hash) {
  tree_.insert(block, parent, hash, key_);
  ++listed_;
  ++changes_;
}

void TrtBlocks::remove(std::uint32_t block) {
  listed_ -= tree_.remove(block);
  ++changes_;
}

// ---------------------------------------------------------------- taking back

void TrtBlocks::release(RequestId id, std::int64_t held, std::int64_t computed, Leaving how) {
  if (!reuses_) {
    free_ += blocks(held);
    return;
  }
  release(sequence(id), held, computed, how);
}

void TrtBlocks::release(Sequence s, std::int64_t held, std::int64_t computed, Leaving how) {
  for (auto count = static_cast<std::int64_t>(s.kv.blocks.size()); count < blocks(held); ++count) {
    s.kv.blocks.push_back(spare_.back());
    spare_.pop_back();
  }
  const bool paused = how == Leaving::kPaused;
  if (paused || !nameless(s)) store(s, computed, partial_, paused);
  for (std::size_t i = s.kv.blocks.size(); i-- > 0;) {
    if (--pool_[s.kv.blocks[i]].users == 0) push_free(s.kv.blocks[i]);
  }
  s.kv.blocks.clear();
  s.kv.entered = 0;
}

void TrtBlocks::keep(RequestId id, std::int64_t tokens, Kept& kept) {
  kept.tokens = tokens;
  if (!reuses_) return;
  const Sequence s = sequence(id);
  kept.prompt = s.prompt;
  kept.own = s.own;
  std::swap(kept.kv, table_.kv(id));
  std::swap(kept.content, table_.content(id));
}

void TrtBlocks::release(Kept& kept) {
  if (!reuses_) {
    free_ += blocks(kept.tokens);
    return;
  }
  release({kept.kv, kept.content, kept.prompt, kept.own}, kept.tokens, kept.tokens, Leaving::kEnded);
}

std::int64_t TrtBlocks::imagine_release(RequestId id, std::int64_t held) {
  if (!reuses_) return blocks(held);
  const KvTable& kv = table_.kv(id);
  std::int64_t freed = blocks(held) - static_cast<std::int64_t>(kv.blocks.size());  // not told apart yet
  for (const std::uint32_t at : kv.blocks) {
    Block& block = pool_[at];
    if (block.imagined != imagined_) {
      block.imagined = imagined_;
      block.left = block.users;
    }
    freed += --block.left == 0;
  }
  return freed;
}

// ---------------------------------------------------------------- the queue of free blocks

/// The foremost free block, out of the tree.
std::uint32_t TrtBlocks::take() {
  --free_;
  if (static_cast<std::int64_t>(pool_.size()) < usable_) {
    pool_.emplace_back();
    pool_.back().users = 1;
    return static_cast<std::uint32_t>(pool_.size() - 1);
  }
  const std::uint32_t block = free_head_;
  unlink_free(block);
  pool_[block].users = 1;
  if (tree_.listed(block)) remove(block);
  return block;
}

void TrtBlocks::claim(std::uint32_t block) {
  if (pool_[block].users++ > 0) return;
  unlink_free(block);
  --free_;
}

void TrtBlocks::push_free(std::uint32_t block) {
  Block& b = pool_[block];
  b.previous = free_tail_;
  b.next = kNone;
  (free_tail_ == kNone ? free_head_ : pool_[free_tail_].next) = block;
  free_tail_ = block;
  ++free_;
}

void TrtBlocks::unlink_free(std::uint32_t block) {
  const Block& b = pool_[block];
  (b.previous == kNone ? free_head_ : pool_[b.previous].next) = b.next;
  (b.next == kNone ? free_tail_ : pool_[b.next].previous) = b.previous;
}

}  // namespace poolcast
