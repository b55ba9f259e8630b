// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/units.h"
#include "sim/huge_pages.h"
#include "sim/kv_events.h"
#include "sim/schedulers/hash_index.h"
#include "sim/schedulers/token_cursor.h"

namespace poolcast {

/// The named blocks of vLLM's prefix cache, in runs: blocks that follow each other in a sequence and that the same
/// requests use. A prompt of a thousand blocks is a few runs, and is looked up, given and taken back in as many
/// strides; what comes out is what single blocks would do.
///
/// A tree says what the tokens are: a node is a whole number of blocks behind its parent's, and no two nodes stand for
/// the same tokens. The same tokens may lie in several blocks, so a node has a run for each copy, in the order in which
/// they were entered; all of them are as long as the node. A node that is cut in two cuts its runs. One that has lost
/// its runs stays while others stand behind it: nothing is found there.
///
/// Runs that nobody uses wait in a queue. From the foremost blocks are taken tail first; of one that was cut, the lower
/// part stands before the upper one, as their blocks would.
class CachedRuns {
 public:
  using Node = std::uint32_t;
  using Run = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr std::uint32_t kNone = HashIndex::kNone;

  explicit CachedRuns(std::int64_t block_size);
  /// From now on blocks that can be found and those that no longer can are told to `events`, which outlives this.
  void tell(KvEvents* events) { events_ = events; }

  struct Match {
    Run run = kNone;  ///< the first copy; kNone: nothing is cached
    Node node = kNone;
    std::int64_t blocks = 0;  ///< of that node, from its first on
  };
  /// The blocks behind `parent` that hold the next tokens of `at`, as many of them as one node has.
  Match find(Node parent, const TokenCursor& at) const;
  /// Cuts a node behind its first `blocks` blocks; returns the new upper part. The lower one keeps its name, and so do
  /// its runs.
  Node cut(Node node, std::int64_t blocks);

  /// Enters up to `blocks` blocks behind `parent`, the tokens of which come next in `at`, as a run with one user.
  /// `last` is the run that the user has in `parent`: where nobody else is there it grows instead, and is returned.
  Match enter(Node parent, Run last, TokenCursor at, std::int64_t blocks, bool uncomputed);
  /// A run of blocks that are kept but that no request will ask for: not in the tree.
  Run keep_private(std::int64_t blocks);
  void grow_private(Run run, std::int64_t blocks) { runs_[run].blocks += blocks; }
  /// Cuts a run behind its first `blocks` blocks. The lower part keeps its name; `above` names the upper one.
  void cut_run(Run run, std::int64_t blocks);

  Run first_copy(Node node) const;
  Node node(Run run) const { return runs_[run].node; }
  std::int64_t blocks(Run run) const { return runs_[run].blocks; }
  bool idle(Run run) const { return runs_[run].users == 0; }
  bool uncomputed(Run run) const { return runs_[run].uncomputed; }
  bool is_private(Run run) const { return runs_[run].node == kNone; }
  /// The run that was cut off above it, for those who use both.
  Run above(Run run) const { return runs_[run].above; }

  void mark_uncomputed(Run run) { runs_[run].uncomputed = true; }
  /// Nobody finds it any more; its blocks are blank when its last user leaves.
  void unlist(Run run);
  /// Returns whether the run was idle: it leaves the queue then.
  bool use(Run run);
  enum class Left { kUsed, kIdle, kBlank };
  /// A user leaves: others still use it, or it waits at the end of the queue, or it is gone.
  Left leave(Run run);
  /// Forgets a run that is in no queue.
  void drop(Run run);
  /// Takes `count` blocks from the front of the queue, which must hold them.
  void take(std::int64_t count);

 private:
  struct alignas(64) TreeNode {
    Node parent = kNone;
    std::uint32_t children = 0;
    Run first = kNone, last = kNone;  ///< copies by entry
    std::int64_t blocks = 0;
    std::uint64_t hash = 0;  ///< under which the index holds it
    TokenEdge edge;
  };
  static_assert(sizeof(TreeNode) == 64, "one cache line");
  struct BlockRun {
    Node node = kNone;
    Run next_copy = kNone;
    Run above = kNone;
    Run older = kNone, newer = kNone;  ///< in the queue
    std::uint32_t users = 1;
    std::int64_t blocks = 0;
    bool uncomputed = false;
    bool lost = false;
  };

  Tokens tokens(std::int64_t blocks) const { return blocks * block_size_; }
  bool alone(Node node, Run run) const;
  Node child(Node parent, const TokenCursor& at, std::uint64_t hash) const;
  Node make_node(Node parent, std::uint64_t hash, std::int64_t blocks);
  void prune(Node node);
  Run make_run(Node node, std::int64_t blocks);
  void add_copy(Node node, Run run);
  void remove_copy(Node node, Run run);
  void split_run(Run lower, std::int64_t blocks, Node upper);
  void shorten(Run run, std::int64_t blocks);
  void name_blocks(Node node, TokenCursor at, std::int64_t blocks);
  void tell_stored(Node node, std::size_t first);
  void tell_removed(Node node, std::size_t first);
  void append(Run run, Run behind);
  void unlink(Run run);

  std::int64_t block_size_;
  LargeVector<TreeNode> nodes_;
  std::vector<Node> free_nodes_;
  LargeVector<BlockRun> runs_;
  std::vector<Run> free_runs_;
  HashIndex index_;
  Run oldest_ = kNone, newest_ = kNone;
  KvEvents* events_ = nullptr;                     ///< null: nobody wants to know
  std::vector<std::vector<std::uint64_t>> names_;  ///< by node, where somebody does: of its blocks (KvTable::hash)
};

}  // namespace poolcast
