// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/kv_blocks.h"

namespace poolcast {

KvBlocks::KvBlocks(std::int64_t block_size, std::int64_t usable, bool prefix_cache, RequestTable& table,
                   std::int64_t host_blocks)
    : block_size_(block_size),
      usable_(usable),
      free_(usable),
      blank_(usable),
      caches_(prefix_cache),
      table_(table),
      host_(prefix_cache ? host_blocks : 0),
      runs_(block_size) {}

void KvBlocks::open_table(RequestId id) {
  if (!caches_) return;
  const SchedulerState& s = table_.state(id);
  constexpr std::uint64_t kOwn = std::uint64_t{1} << 63;
  table_.held(id).start(table_.content(id), s.prompt_tokens, kOwn | s.rank);
  if (host_.on()) table_.kv(id).open(table_.content(id), s.prompt_tokens, kOwn | s.rank);
}

// ---------------------------------------------------------------- looking up

/// Tokens of a request, of the first `tokens`, that can have been cached. What nobody else can hold was only if the
/// request was preempted.
std::int64_t KvBlocks::reach(RequestId id, std::int64_t tokens) const {
  return table_.state(id).preemptions > 0 ? tokens : std::min(tokens, table_.held(id).known);
}

KvBlocks::Match KvBlocks::match(RequestId id, std::int64_t tokens, bool drop_last) {
  Match m;
  if (!caches_) return m;
  found_.clear();
  asked_ = id;
  TokenCursor at = table_.held(id).from_start(reach(id, tokens - 1) / block_size_ * block_size_);
  CachedRuns::Node node = CachedRuns::kRoot;
  while (at.left() > 0) {
    const CachedRuns::Match next = runs_.find(node, at);
    if (next.run == CachedRuns::kNone) break;
    found_.push_back(next);
    if (next.blocks < runs_.blocks(next.run)) break;
    at.advance(next.blocks * block_size_);
    node = next.node;
  }
  if (drop_last && !found_.empty() && --found_.back().blocks == 0) found_.pop_back();
  for (const CachedRuns::Match& f : found_) {
    m.blocks += f.blocks;
    if (runs_.idle(f.run)) m.idle += f.blocks;
    if (runs_.uncomputed(f.run)) m.uncomputed += f.blocks;
  }
  found_blocks_ = m.blocks;
  return m;
}

std::int64_t KvBlocks::match_on_host(RequestId id, std::int64_t tokens, std::int64_t from) {
  KvTable& kv = table_.kv(id);
  const Content& content = table_.content(id);
  const std::int64_t end = reach(id, tokens) / block_size_;
  std::int64_t block = from;
  while (block < end && host_.holds(kv.hash(static_cast<std::size_t>(block), content, block_size_))) ++block;
  return block - from;
}

bool KvBlocks::continued_by(RequestId other, std::int64_t tokens) const {
  const std::int64_t full = tokens / block_size_;
  if (full != found_blocks_) return false;
  const Tokens count = full * block_size_;
  return TokenCursor::common(table_.held(other).from_start(count), table_.held(asked_).from_start(count)) == count;
}

// ---------------------------------------------------------------- giving

void KvBlocks::admit(RequestId id, std::int64_t end) {
  admit_empty(id, end);
  if (caches_) enter(table_.held(id), end);
}

void KvBlocks::admit_empty(RequestId id, std::int64_t end) {
  if (!caches_) return take(blocks(end));
  HeldBlocks& held = table_.held(id);
  held.parts.clear();
  std::int64_t begin = 0;
  for (const CachedRuns::Match& f : found_) {
    const bool whole = f.blocks == runs_.blocks(f.run);
    const Run run = whole ? f.run : runs_.first_copy(runs_.cut(f.node, f.blocks));
    if (runs_.use(run)) free_ -= f.blocks;
    held.parts.push_back({run, begin});
    begin += f.blocks;
  }
  held.cached = begin;
  held.at.advance(begin * block_size_);
  held.open = blocks(end) - begin;
  take(held.open);
}

void KvBlocks::grow(RequestId id, std::int64_t from, std::int64_t end) { extend(id, blocks(end) - blocks(from), end); }

void KvBlocks::extend(RequestId id, std::int64_t count, std::int64_t known) {
  take(count);
  if (!caches_) return;
  HeldBlocks& held = table_.held(id);
  held.open += count;
  enter(held, known);
}

void KvBlocks::settle(RequestId id, std::int64_t tokens) {
  if (!caches_) return;
  HeldBlocks& held = table_.held(id);
  held.open = std::max(held.open, blocks(tokens) - held.cached);
  enter(held, tokens);
}

// ---------------------------------------------------------------- the cache

/// Gives the full blocks among the first `tokens` tokens their hashes. Those that no other request can ask for are not
/// listed: nobody looks for them unless their request is preempted and comes back.
void KvBlocks::enter(HeldBlocks& held, std::int64_t tokens) {
  const std::int64_t full = tokens / block_size_;
  const std::int64_t listed = std::min(full, held.known / block_size_);
  if (held.cached < listed) list(held, listed - held.cached, false);
  if (held.cached < full) keep_private(held, full - held.cached);
}

/// Lists the next `blocks` blocks of a request.
void KvBlocks::list(HeldBlocks& held, std::int64_t blocks, bool uncomputed) {
  held.open -= blocks;
  while (blocks > 0) {
    const Run last = held.parts.empty() ? CachedRuns::kNone : held.parts.back().run;
    const CachedRuns::Node parent = held.parts.empty() ? CachedRuns::kRoot : runs_.node(last);
    const CachedRuns::Match entered = runs_.enter(parent, last, held.at, blocks, uncomputed);
    if (entered.run != last) held.parts.push_back({entered.run, held.cached});
    held.at.advance(entered.blocks * block_size_);
    held.cached += entered.blocks;
    blocks -= entered.blocks;
  }
}

void KvBlocks::keep_private(HeldBlocks& held, std::int64_t blocks) {
  if (!held.parts.empty() && runs_.is_private(held.parts.back().run)) {
    runs_.grow_private(held.parts.back().run, blocks);
  } else {
    held.parts.push_back({runs_.keep_private(blocks), held.cached});
  }
  held.cached += blocks;
  held.open -= blocks;
}

// ---------------------------------------------------------------- taking back

/// Calls act(run, the first of its blocks) for the runs of a request, the last one first.
template <class Do>
void KvBlocks::for_runs(const HeldBlocks& held, Do act) const {
  std::int64_t end = held.cached;
  for (std::size_t i = held.parts.size(); i-- > 0;) {
    for (Run run = held.parts[i].run; end > held.parts[i].begin;) {
      const Run above = runs_.above(run);
      end -= runs_.blocks(run);
      act(run, end);
      run = above;
    }
  }
}

/// What was entered behind the first `done` blocks was given to the request in this very step.
void KvBlocks::take_back_uncomputed(HeldBlocks& held, std::int64_t done, bool keep) {
  Run across = CachedRuns::kNone;
  std::int64_t begin = 0;
  for_runs(held, [&](Run run, std::int64_t first) {
    if (first < done && done < first + runs_.blocks(run)) across = run, begin = first;
  });
  if (across != CachedRuns::kNone) runs_.cut_run(across, done - begin);
  for_runs(held, [&](Run run, std::int64_t first) {
    if (first < done) return;
    keep ? runs_.mark_uncomputed(run) : runs_.unlist(run);
  });
}

/// Lists what nobody else can ask for: the request itself will, when it comes back. Behind the first `done` blocks what
/// was not computed, if that is kept.
void KvBlocks::list_private(HeldBlocks& held, std::int64_t done, bool keep) {
  if (held.parts.empty() || !runs_.is_private(held.parts.back().run)) return;
  const std::int64_t begin = held.parts.back().begin, end = held.cached;
  Run run = held.parts.back().run;
  for (std::int64_t left = end - begin; left > 0;) {
    const Run above = runs_.above(run);
    left -= runs_.blocks(run);
    runs_.drop(run);
    run = above;
  }
  held.parts.pop_back();
  held.cached = begin;
  held.open += end - begin;
  const std::int64_t computed = std::clamp(done, begin, end);
  list(held, computed - begin, false);
  if (keep) list(held, end - computed, true);
}

void KvBlocks::release(RequestId id, std::int64_t tokens, std::int64_t computed, Leaving how, bool keep_uncomputed) {
  if (!caches_) {
    free_ += blocks(tokens);
    blank_ += blocks(tokens);
    return;
  }
  HeldBlocks& held = table_.held(id);
  held.open = std::max(held.open, blocks(tokens) - held.cached);
  enter(held, keep_uncomputed ? tokens : computed);
  const std::int64_t done = computed / block_size_;
  const std::int64_t to_keep = std::min(done, held.cached);
  if (done < held.cached) take_back_uncomputed(held, done, keep_uncomputed);
  if (how == Leaving::kPreempted) list_private(held, done, keep_uncomputed);
  if (host_.on()) keep_on_host(id, to_keep);
  for_runs(held, [this](Run run, std::int64_t) {
    const std::int64_t count = runs_.blocks(run);
    const CachedRuns::Left left = runs_.leave(run);
    if (left != CachedRuns::Left::kUsed) free_ += count;
    if (left == CachedRuns::Left::kBlank) blank_ += count;
  });
  free_ += held.open;
  blank_ += held.open;
  held.leave();
}

void KvBlocks::keep_on_host(RequestId id, std::int64_t blocks) {
  for (auto i = static_cast<std::size_t>(blocks); i-- > 0;) {
    host_.keep(table_.kv(id).hash(i, table_.content(id), block_size_));
  }
}

}  // namespace poolcast
