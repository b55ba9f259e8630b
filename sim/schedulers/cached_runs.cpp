// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/cached_runs.h"

#include <algorithm>
#include <utility>

#include "sim/schedulers/kv_table.h"
#include "sim/take_place.h"

namespace poolcast {

CachedRuns::CachedRuns(std::int64_t block_size) : block_size_(block_size) { nodes_.emplace_back(); }

// ---------------------------------------------------------------- the tree

CachedRuns::Node CachedRuns::child(Node parent, const TokenCursor& at, std::uint64_t hash) const {
  return index_.find(hash, [&](Node node) {
    const TreeNode& n = nodes_[node];
    return n.parent == parent &&
           TokenCursor::common(TokenCursor(n.edge.data(), block_size_), at.with_left(block_size_)) == block_size_;
  });
}

CachedRuns::Match CachedRuns::find(Node parent, const TokenCursor& at) const {
  if (nodes_[parent].children == 0) return {};
  const Node node = child(parent, at, at.hash(block_size_, parent));
  if (node == kNone) return {};
  const TreeNode& n = nodes_[node];
  return {first_copy(node), node, TokenCursor::common(TokenCursor(n.edge.data(), tokens(n.blocks)), at) / block_size_};
}

CachedRuns::Run CachedRuns::first_copy(Node node) const {
  Run run = nodes_[node].first;
  while (run != kNone && runs_[run].lost) run = runs_[run].next_copy;
  return run;
}

CachedRuns::Node CachedRuns::make_node(Node parent, std::uint64_t hash, std::int64_t blocks) {
  const Node node = take_place(nodes_, free_nodes_);
  TreeNode& n = nodes_[node];
  n.parent = parent;
  n.children = 0;
  n.first = n.last = kNone;
  n.blocks = blocks;
  n.hash = hash;
  n.edge.clear();
  ++nodes_[parent].children;
  if (events_ != nullptr) {
    names_.resize(nodes_.size());
    names_[node].clear();
  }
  return node;
}

CachedRuns::Node CachedRuns::cut(Node lower, std::int64_t blocks) {
  const Node parent = nodes_[lower].parent;
  const Node upper = make_node(parent, nodes_[lower].hash, blocks);
  TreeNode& u = nodes_[upper];
  TreeNode& l = nodes_[lower];
  TokenCursor at(l.edge.data(), tokens(l.blocks));
  TokenEdge rest;
  at.take(tokens(blocks), u.edge);
  at.take(at.left(), rest);
  l.edge = std::move(rest);
  l.blocks -= blocks;
  index_.replace(l.hash, lower, upper);
  l.parent = upper;
  u.children = 1;
  --nodes_[parent].children;
  l.hash = TokenCursor(l.edge.data(), tokens(l.blocks)).hash(block_size_, upper);
  index_.insert(l.hash, lower);
  for (Run run = l.first; run != kNone; run = runs_[run].next_copy) split_run(run, blocks, upper);
  if (events_ != nullptr) {
    const auto border = names_[lower].begin() + blocks;
    names_[upper].assign(names_[lower].begin(), border);
    names_[lower].erase(names_[lower].begin(), border);
  }
  return upper;
}

/// Forgets nodes that are of no use, from `node` on upwards.
void CachedRuns::prune(Node node) {
  while (node != kRoot && nodes_[node].first == kNone && nodes_[node].children == 0) {
    const Node parent = nodes_[node].parent;
    index_.erase(nodes_[node].hash, node);
    free_nodes_.push_back(node);
    --nodes_[parent].children;
    node = parent;
  }
}

// ---------------------------------------------------------------- runs

/// Whether `run` is all that there is in and behind its node, and has but one user.
bool CachedRuns::alone(Node node, Run run) const {
  const TreeNode& n = nodes_[node];
  return n.children == 0 && n.first == run && n.last == run && runs_[run].users == 1;
}

CachedRuns::Match CachedRuns::enter(Node parent, Run last, TokenCursor at, std::int64_t blocks, bool uncomputed) {
  if (last != kNone && alone(parent, last) && runs_[last].uncomputed == uncomputed && !runs_[last].lost) {
    if (events_ != nullptr) {
      const std::size_t first = names_[parent].size();
      name_blocks(parent, at, blocks);
      tell_stored(parent, first);
    }
    at.take(tokens(blocks), nodes_[parent].edge);
    nodes_[parent].blocks += blocks;
    runs_[last].blocks += blocks;
    return {last, parent, blocks};
  }
  const std::uint64_t hash = at.hash(block_size_, parent);
  Node node = nodes_[parent].children == 0 ? kNone : child(parent, at, hash);
  if (node == kNone) {
    node = make_node(parent, hash, blocks);
    if (events_ != nullptr) name_blocks(node, at, blocks);
    at.take(tokens(blocks), nodes_[node].edge);
    index_.insert(hash, node);
  } else {
    const TreeNode& n = nodes_[node];
    blocks =
        TokenCursor::common(TokenCursor(n.edge.data(), tokens(n.blocks)), at.with_left(tokens(blocks))) / block_size_;
    if (blocks < n.blocks) node = cut(node, blocks);
  }
  if (events_ != nullptr && first_copy(node) == kNone) tell_stored(node, 0);
  const Run run = make_run(node, blocks);
  runs_[run].uncomputed = uncomputed;
  add_copy(node, run);
  return {run, node, blocks};
}

CachedRuns::Run CachedRuns::keep_private(std::int64_t blocks) { return make_run(kNone, blocks); }

CachedRuns::Run CachedRuns::make_run(Node node, std::int64_t blocks) {
  const Run run = take_place(runs_, free_runs_);
  runs_[run] = {};
  runs_[run].node = node;
  runs_[run].blocks = blocks;
  return run;
}

void CachedRuns::add_copy(Node node, Run run) {
  TreeNode& n = nodes_[node];
  (n.last == kNone ? n.first : runs_[n.last].next_copy) = run;
  n.last = run;
}

void CachedRuns::remove_copy(Node node, Run run) {
  TreeNode& n = nodes_[node];
  Run before = kNone;
  for (Run at = n.first; at != run; at = runs_[at].next_copy) before = at;
  (before == kNone ? n.first : runs_[before].next_copy) = runs_[run].next_copy;
  if (n.last == run) n.last = before;
}

void CachedRuns::cut_run(Run run, std::int64_t blocks) {
  if (is_private(run)) {
    split_run(run, blocks, kNone);
  } else {
    cut(runs_[run].node, blocks);
  }
}

/// Gives the first `blocks` blocks of a run to a new one in node `upper`.
void CachedRuns::split_run(Run lower, std::int64_t blocks, Node upper) {
  const Run run = make_run(upper, blocks);
  BlockRun& l = runs_[lower];
  BlockRun& u = runs_[run];
  u.above = l.above;
  u.users = l.users;
  u.uncomputed = l.uncomputed;
  u.lost = l.lost;
  l.above = run;
  l.blocks -= blocks;
  if (upper != kNone) add_copy(upper, run);
  if (u.users == 0) append(run, lower);
}

bool CachedRuns::use(Run run) {
  if (runs_[run].users++ > 0) return false;
  unlink(run);
  return true;
}

CachedRuns::Left CachedRuns::leave(Run run) {
  if (--runs_[run].users > 0) return Left::kUsed;
  if (runs_[run].lost) {
    drop(run);
    return Left::kBlank;
  }
  append(run, newest_);
  return Left::kIdle;
}

void CachedRuns::drop(Run run) {
  const Node node = runs_[run].node;
  if (node != kNone) {
    remove_copy(node, run);
    if (events_ != nullptr && !runs_[run].lost && first_copy(node) == kNone) tell_removed(node, 0);
    prune(node);
  }
  free_runs_.push_back(run);
}

void CachedRuns::unlist(Run run) {
  const bool found = !runs_[run].lost && !is_private(run);
  runs_[run].lost = true;
  if (events_ != nullptr && found && first_copy(runs_[run].node) == kNone) tell_removed(runs_[run].node, 0);
}

// ---------------------------------------------------------------- what is told

/// Gives the next `blocks` blocks of a node, the tokens of which come next in `at`, their names.
void CachedRuns::name_blocks(Node node, TokenCursor at, std::int64_t blocks) {
  TokenEdge edge;
  at.take(tokens(blocks), edge);
  const Node parent = nodes_[node].parent;
  const std::uint64_t behind = !names_[node].empty() ? names_[node].back()
                               : parent == kRoot     ? KvTable::kStart
                                                     : names_[parent].back();
  const Content content{{edge.begin(), edge.end()}};
  KvTable table;
  table.open(content, tokens(blocks), 0, behind);
  for (std::size_t i = 0; i < static_cast<std::size_t>(blocks); ++i) {
    names_[node].push_back(table.hash(i, content, block_size_));
  }
}

/// The blocks of a node from `first` on.
void CachedRuns::tell_stored(Node node, std::size_t first) {
  for (std::size_t i = first; i < names_[node].size(); ++i) events_->stored(names_[node][i]);
}

void CachedRuns::tell_removed(Node node, std::size_t first) {
  for (std::size_t i = first; i < names_[node].size(); ++i) events_->removed(names_[node][i]);
}

// ---------------------------------------------------------------- the queue

/// Puts a run into the queue behind another one; kNone: in front.
void CachedRuns::append(Run run, Run behind) {
  BlockRun& r = runs_[run];
  r.older = behind;
  r.newer = behind == kNone ? oldest_ : runs_[behind].newer;
  (r.older == kNone ? oldest_ : runs_[r.older].newer) = run;
  (r.newer == kNone ? newest_ : runs_[r.newer].older) = run;
}

void CachedRuns::unlink(Run run) {
  const BlockRun& r = runs_[run];
  (r.older == kNone ? oldest_ : runs_[r.older].newer) = r.newer;
  (r.newer == kNone ? newest_ : runs_[r.newer].older) = r.older;
}

void CachedRuns::take(std::int64_t count) {
  while (count > 0) {
    const std::int64_t had = runs_[oldest_].blocks;
    if (count < had) return shorten(oldest_, count);
    count -= had;
    const Run run = oldest_;
    unlink(run);
    drop(run);
  }
}

/// Takes the last `blocks` blocks from a run in the queue, but not all.
void CachedRuns::shorten(Run run, std::int64_t blocks) {
  const Node node = runs_[run].node;
  if (node == kNone) {
    runs_[run].blocks -= blocks;
    return;
  }
  TreeNode& n = nodes_[node];
  if (n.children > 0 || n.first != n.last) {
    cut(node, n.blocks - blocks);
    unlink(run);
    return drop(run);
  }
  n.blocks -= blocks;
  runs_[run].blocks -= blocks;
  n.edge.shorten(tokens(blocks));
  if (events_ != nullptr) {
    tell_removed(node, static_cast<std::size_t>(n.blocks));
    names_[node].resize(static_cast<std::size_t>(n.blocks));
  }
}

}  // namespace poolcast
