// SPDX-License-Identifier: Apache-2.0
// What VllmScheduler does where prefill and decode are apart: prompts whose KV comes from elsewhere, and prompts that
// are handed over.
#include "sim/schedulers/vllm.h"

namespace poolcast {

/// Gives a request the blocks of its whole prompt and asks for the KV that the cache here does not hold. It takes no
/// slot and no tokens. Beside the gate, the blocks that running prompts are still owed must stay free (vLLM reserves
/// them for asynchronous loads only).
bool VllmScheduler::start_loading(RequestId id, const KvBlocks::Match& found) {
  SchedulerState& s = table_.state(id);
  std::int64_t owed = 0;
  for (const RequestId other : prefilling_) {
    const SchedulerState& o = table_.state(other);
    owed += kv_.blocks(o.tokens) - kv_.blocks(o.computed + o.chunk);
  }
  const std::int64_t free =
      kv_.free() - (running_.size() > 0 ? watermark_blocks_ : 0) - owed + found.blocks - found.idle;
  if (kv_.blocks(s.tokens) > free) return false;
  waiting_.pop();
  const Tokens hit = found.blocks * args_.block_size;
  if (kv_.caches()) stats_.count(s.tokens, hit, false);
  table_.record(id).cached_tokens = hit;
  kv_.admit_empty(id, s.tokens);
  s.standing = Standing::kLoading;
  loading_.push_back(id);
  plan_.loads.push_back({id, s.remote - hit});
  return true;
}

void VllmScheduler::loaded(RequestId id) {
  SchedulerState& s = table_.state(id);
  std::erase(loading_, id);
  loaded_.push_back(id);
  // The last token of a prompt is computed again: its output is the first token.
  s.computed = s.tokens - 1;
  s.cached += s.computed;
  s.remote = 0;
  kv_.settle(id, s.computed);
  refused_ = {};
}

/// Requests whose KV has come go before those that wait; false when one of them does not get in.
bool VllmScheduler::admit_loaded(Tokens& budget) {
  while (!loaded_.empty()) {
    if (budget == 0 || running_.size() >= args_.max_num_seqs) return false;
    const RequestId id = loaded_.front();
    loaded_.erase(loaded_.begin());
    budget -= 1;
    enter_running(id, table_.state(id).computed, 1);
    kv_.settle(id, table_.state(id).tokens);
  }
  return true;
}

void VllmScheduler::release_handed(RequestId id) {
  SchedulerState& s = table_.state(id);
  s.standing = Standing::kGone;
  kv_.release(id, s.computed, s.computed);
  refused_ = {};  // there is more room now
}

}  // namespace poolcast
