// SPDX-License-Identifier: Apache-2.0
// How requests of TensorrtLlmScheduler come, pause and leave, and the lists in which they stand meanwhile.
#include "sim/schedulers/tensorrt_llm.h"

#include <algorithm>

namespace poolcast {

void TensorrtLlmScheduler::enqueue(RequestId id) {
  SchedulerState& s = table_.state(id);
  s.tokens = s.prompt_tokens;
  s.standing = Standing::kWaiting;
  kv_.open_table(id);
  queue_.add(id);
}

void TensorrtLlmScheduler::abort(RequestId id) {
  SchedulerState& s = table_.state(id);
  if (s.standing == Standing::kWaiting && !active(id)) {
    s.standing = Standing::kGone;
    queue_.remove(id);
    return;
  }
  if (s.standing == Standing::kDecoding) {
    stop_generating(id);
    kv_.release(id, s.computed, s.computed, TrtBlocks::Leaving::kEnded);
  } else {
    leave_context(id);
    if (s.standing == Standing::kPrefilling) kv_.release(id, s.tokens, s.computed, TrtBlocks::Leaving::kEnded);
  }
  s.standing = Standing::kGone;
  unlink(id);
  capacity_.left(id);
}

/// Gives its blocks back and makes a prompt of everything that it has so far; it keeps its place.
void TensorrtLlmScheduler::pause(RequestId id) {
  SchedulerState& s = table_.state(id);
  const bool generating = s.standing == Standing::kDecoding;
  if (generating) {
    stop_generating(id);
    enter_context(id);
  } else {
    ++pending_;
  }
  const Tokens computed = s.computed;
  kv_.release(id, generating ? computed : s.tokens, computed, TrtBlocks::Leaving::kPaused);
  s.dropped += computed;
  s.lost = static_cast<std::int32_t>(computed);
  s.computed = 0;
  s.chunk = 0;
  s.starved = false;
  ++s.preemptions;
  s.standing = Standing::kWaiting;
  plan_.preempted.push_back({id, generating, computed});
}

/// In order of arrival. With overlap they keep their blocks and slots for one more step.
void TensorrtLlmScheduler::end_requests() {
  std::sort(outcome_.ended.begin(), outcome_.ended.end(),
            [this](RequestId a, RequestId b) { return table_.state(a).admission < table_.state(b).admission; });
  for (const RequestId id : outcome_.ended) {
    const Tokens held = table_.state(id).tokens - 1;  // the last token is never stored
    if (args_.disable_overlap_scheduler) {
      kv_.release(id, held, held, TrtBlocks::Leaving::kEnded);
    } else {
      if (kept_count_ == kept_.size()) kept_.emplace_back();
      kv_.keep(id, held, kept_[kept_count_++]);
    }
    unlink(id);
  }
}

void TensorrtLlmScheduler::release_kept() {
  for (std::size_t i = 0; i < kept_count_; ++i) kv_.release(kept_[i]);
  kept_count_ = 0;
}

std::vector<RequestId> TensorrtLlmScheduler::take_all() {
  std::vector<RequestId> held, pending;
  for_each_active(
      [&](RequestId id) { (table_.state(id).standing == Standing::kWaiting ? pending : held).push_back(id); });
  held.insert(held.end(), pending.begin(), pending.end());
  for (const RequestId id : held) abort(id);
  while (!queue_.empty()) {
    held.push_back(queue_.front());
    queue_.pop();
    table_.state(held.back()).standing = Standing::kGone;
  }
  release_kept();
  return held;
}

// ---------------------------------------------------------------- lists

void TensorrtLlmScheduler::start_generating(RequestId id) {
  const SchedulerState& s = table_.state(id);
  generated_need_ += kv_.blocks(s.end_tokens);
  generated_held_ += kv_.blocks(s.tokens - 1);
  decodes_.join(id);
}

void TensorrtLlmScheduler::stop_generating(RequestId id) {
  note_stopped(id, decodes_.tokens(id) - 1);
  decodes_.leave(id);
}

void TensorrtLlmScheduler::note_stopped(RequestId id, Tokens held) {
  generated_need_ -= kv_.blocks(table_.state(id).end_tokens);
  generated_held_ -= kv_.blocks(held);
}

void TensorrtLlmScheduler::enter_context(RequestId id) {
  const auto earlier = [this](RequestId a, RequestId b) {
    return table_.state(a).admission < table_.state(b).admission;
  };
  contexts_.insert(std::upper_bound(contexts_.begin(), contexts_.end(), id, earlier), id);
  ++pending_;
}

void TensorrtLlmScheduler::leave_context(RequestId id) {
  contexts_.erase(std::find(contexts_.begin(), contexts_.end(), id));
  if (table_.state(id).standing == Standing::kWaiting) --pending_;
}

/// Without links it counts as not active.
void TensorrtLlmScheduler::unlink(RequestId id) {
  active_.remove(id);
  SchedulerState& s = table_.state(id);
  s.previous = s.next = kNone;
}

}  // namespace poolcast
