// SPDX-License-Identifier: Apache-2.0
// What a step of VllmScheduler, or a run of them, brings.
#include <algorithm>

#include "sim/schedulers/vllm.h"

namespace poolcast {

void VllmScheduler::begun(std::int64_t steps) {
  const std::int64_t opened = decodes_.open_blocks(steps - 1).opened;
  kv_.open(opened - opened_);
  opened_ = opened;
}

const StepOutcome& VllmScheduler::finish(std::int64_t steps) {
  outcome_.prefilled.clear();
  outcome_.ended.clear();
  outcome_.rejected = 0;
  outcome_.block_steps = steps * used_;
  outcome_.blocks_used = used_;
  finish_decodes(steps);
  const bool decodes_ended = !outcome_.ended.empty();
  finish_prompts();
  if (decodes_ended && outcome_.ended.size() > 1) {
    std::sort(outcome_.ended.begin(), outcome_.ended.end(),
              [this](RequestId a, RequestId b) { return table_.state(a).admission < table_.state(b).admission; });
  }
  ended_ = true;
  ahead_ = args_.async_scheduling;
  for (const RequestId id : outcome_.ended) {
    const Tokens held = table_.state(id).tokens - 1;  // the last token is never stored
    if (ahead_) {
      linger(id, held);
    } else {
      let_go(id, held);
    }
  }
  return outcome_;
}

void VllmScheduler::finish_decodes(std::int64_t steps) {
  if (steps > 1) {
    const DecodeSet::BlockRun run = decodes_.open_blocks(steps - 1);
    outcome_.block_steps += run.increment;
    outcome_.blocks_used += run.opened;
    kv_.open(run.opened - opened_);
  }
  for (const RequestId id : plan_.starved) {
    decodes_.hold_back(id);
    table_.state(id).starved = false;
  }
  decodes_.advance(steps);
  decodes_.take_ended(outcome_.ended);
  if (!kv_.caches()) return;
  for (const RequestId id : outcome_.ended) quotable_ -= table_.content(id).output != 0;
}

void VllmScheduler::finish_prompts() {
  for (const RequestId id : plan_.prefill_ids) {
    SchedulerState& s = table_.state(id);
    s.computed += s.chunk;
    if (s.computed < s.tokens) continue;
    outcome_.prefilled.push_back(id);
    if (speculates_) {
      check_drafts(id);
    } else {
      ++s.tokens;
    }
    if (s.tokens >= s.end_tokens) {
      stop_prefilling(id);
      s.standing = Standing::kGone;
      outcome_.ended.push_back(id);
    } else if (!speculates_) {
      stop_prefilling(id);
      start_decoding(id);
    }
  }
}

/// The tokens that a step with drafts brings: those that were accepted and the one sampled behind them, up to the end
/// of the sequence. What was computed for the others is thrown away.
void VllmScheduler::check_drafts(RequestId id) {
  SchedulerState& s = table_.state(id);
  const Tokens drafts = s.computed - s.tokens;
  Tokens accepted = 0;
  if (drafts > 0) {
    accepted = acceptance_.accepted(table_.record(id), s.tokens - s.prompt_tokens, drafts);
    ++speculation_stats_.checks;
    speculation_stats_.drafted += drafts;
    speculation_stats_.accepted += accepted;
  }
  s.tokens += std::min(accepted + 1, s.end_tokens - s.tokens);
  outcome_.rejected += s.computed - (s.tokens - 1);
  s.computed = s.tokens - 1;
  s.drafted = true;
}

void VllmScheduler::let_go(RequestId id, Tokens held) {
  SchedulerState& s = table_.state(id);
  if (s.hand_over && s.standing == Standing::kGone && s.tokens >= s.end_tokens) {
    s.standing = Standing::kHanded;
  } else {
    give_back(id, held, held);
  }
  running_.remove(id);
}

// ---------------------------------------------------------------- blocks

/// Frees the blocks of `held` tokens, the first `computed` of which were computed.
void VllmScheduler::give_back(RequestId id, Tokens held, Tokens computed, KvBlocks::Leaving how) {
  const bool preempted = how == KvBlocks::Leaving::kPreempted;
  const SchedulerState& s = table_.state(id);
  if (speculates_) held = kv_.caches() ? std::min(held, s.tokens) : held_blocks(id) * args_.block_size;
  if (preempted && args_.async_scheduling && kv_.caches()) {
    // The token that it has just produced was on its way: what it completes is not cached.
    const Tokens cached = kv_.entered(id) * args_.block_size;
    computed = std::max(computed - 1, std::min(cached, computed));
  }
  kv_.release(id, held, computed, how, preempted && args_.fidelity == Fidelity::kUpstream);
}

/// Blocks that a running request needs for `n` tokens behind the `done` ones.
std::int64_t VllmScheduler::blocks_to_add(RequestId id, Tokens done, Tokens n) {
  if (!speculates_) return kv_.blocks(done + n) - kv_.blocks(done);
  const Tokens end = std::min(done + n + args_.speculation.lookahead(), args_.max_model_len);
  return std::max<std::int64_t>(0, kv_.blocks(end) - held_blocks(id));
}

void VllmScheduler::add_blocks(RequestId id, Tokens done, Tokens n, std::int64_t count) {
  kv_.extend(id, count, std::min(done + n, table_.state(id).tokens));
  if (speculates_) held_blocks(id) += count;
}

void VllmScheduler::stop_prefilling(RequestId id) {
  prefilling_.erase(std::find(prefilling_.begin(), prefilling_.end(), id));
}

}  // namespace poolcast
