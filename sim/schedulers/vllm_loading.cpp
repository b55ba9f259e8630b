// SPDX-License-Identifier: Apache-2.0
// What VllmScheduler does with KV that comes from elsewhere: where prefill and decode are apart, and from the host.
#include <algorithm>

#include "sim/schedulers/vllm.h"

namespace poolcast {

/// Blocks that prompts which run or load are still owed.
std::int64_t VllmScheduler::owed_blocks() const {
  std::int64_t owed = 0;
  for (const RequestId id : prefilling_) {
    const SchedulerState& s = table_.state(id);
    owed += std::max<std::int64_t>(0, kv_.blocks(s.tokens) - kv_.blocks(s.computed + s.chunk));
  }
  for (const auto* list : {&loading_, &landed_, &loaded_}) {
    for (const RequestId id : *list) owed += kv_.blocks(table_.state(id).tokens) - loading_blocks(id);
  }
  return owed;
}

/// Blocks of a request that waits for KV: those of its whole prompt when another replica sends it.
std::int64_t VllmScheduler::loading_blocks(RequestId id) const {
  return kv_.caches() ? kv_.held(id) : kv_.blocks(table_.state(id).tokens);
}

/// Gives a request the blocks of its whole prompt and asks for the KV that the cache here does not hold. It takes no
/// slot and no tokens. Beside the gate, the blocks that other prompts are still owed must stay free (vLLM reserves them
/// for asynchronous loads only).
bool VllmScheduler::start_loading(RequestId id, const KvBlocks::Match& found) {
  SchedulerState& s = table_.state(id);
  const std::int64_t free =
      kv_.free() - (running_.size() > 0 ? watermark_blocks_ : 0) - owed_blocks() + found.blocks - found.idle;
  if (kv_.blocks(s.tokens) > free) return false;
  const Tokens hit = found.blocks * args_.block_size;
  if (kv_.caches()) stats_.count(s.tokens, hit, false);
  table_.record(id).cached_tokens = hit;
  wait_for_kv(id, s.tokens, {id, s.remote - hit});
  return true;
}

/// The same for blocks that the host holds: the request gets those only, but its whole sequence must fit, so that
/// requests which hold loaded blocks cannot keep each other waiting.
bool VllmScheduler::start_host_load(RequestId id, const KvBlocks::Match& found, std::int64_t host_blocks) {
  SchedulerState& s = table_.state(id);
  const std::int64_t free =
      kv_.free() - (running_.size() > 0 ? watermark_blocks_ : 0) - owed_blocks() + found.blocks - found.idle;
  if (kv_.blocks(s.tokens) > free) return false;
  const Tokens hit = found.blocks * args_.block_size, loads = host_blocks * args_.block_size;
  const bool resumed = s.preemptions > 0;
  stats_.count(s.tokens, hit, resumed);
  stats_.host_hits += loads;
  // The last token is computed whatever was found: its output is the next token.
  s.chunk = static_cast<std::int32_t>(std::min(hit + loads, s.tokens - 1));
  if (resumed) {
    const Tokens again = std::max<Tokens>(0, s.lost - s.chunk);
    s.recomputed += again;
    plan_.recomputed += again;
  } else {
    table_.record(id).cached_tokens = s.chunk;
  }
  wait_for_kv(id, hit + loads, {id, loads, true});
  return true;
}

void VllmScheduler::wait_for_kv(RequestId id, Tokens end, const StepPlan::Load& load) {
  waiting_.pop();
  kv_.admit_empty(id, end);
  if (speculates_) held_blocks(id) = kv_.blocks(end);
  table_.state(id).standing = Standing::kLoading;
  loading_.push_back(id);
  plan_.loads.push_back(load);
}

void VllmScheduler::loaded(RequestId id) {
  SchedulerState& s = table_.state(id);
  std::erase(loading_, id);
  (args_.async_scheduling ? landed_ : loaded_).push_back(id);
  // The last token of a prompt is computed again: its output is the first token.
  s.computed = s.remote > 0 ? s.tokens - 1 : s.chunk;
  s.chunk = 0;
  s.cached += s.computed;
  s.remote = 0;
  refused_ = {};
}

/// Requests whose KV has come go before those that wait; false when one of them does not get in.
bool VllmScheduler::admit_loaded(Tokens& budget) {
  while (!loaded_.empty()) {
    if (budget <= draft_slots_ || running_.size() >= args_.max_num_seqs) return false;
    const RequestId id = loaded_.front();
    const SchedulerState& s = table_.state(id);
    kv_.settle(id, s.computed);  // vLLM caches what came when it looks at the request
    Tokens n = s.tokens - s.computed;
    if (args_.long_prefill_token_threshold > 0) n = std::min(n, args_.long_prefill_token_threshold);
    if (!args_.enable_chunked_prefill && n > budget - draft_slots_) return false;
    n = std::min(n, budget - draft_slots_);
    const std::int64_t held = loading_blocks(id);
    const std::int64_t need = std::max<std::int64_t>(0, kv_.blocks(s.computed + n) - held);
    const std::int64_t whole = args_.scheduler_reserve_full_isl ? kv_.blocks(s.tokens) - held : need;
    const std::int64_t free = kv_.free() - (running_.size() > 0 ? watermark_blocks_ : 0);
    if (whole > 0 && std::max(need, whole) > free) return false;
    loaded_.erase(loaded_.begin());
    budget -= n + draft_slots_;
    kv_.extend(id, need, s.computed + n);
    if (speculates_) held_blocks(id) += need;
    enter_running(id, s.computed, n);
  }
  return true;
}

void VllmScheduler::release_handed(RequestId id) {
  SchedulerState& s = table_.state(id);
  s.standing = Standing::kGone;
  give_back(id, s.computed, s.computed);
  refused_ = {};  // there is more room now
}

}  // namespace poolcast
