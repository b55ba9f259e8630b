// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/tensorrt_llm_capacity.h"

#include <algorithm>

namespace poolcast {
namespace {

/// Looks up a prompt that has not started; one that has is past caring.
TrtBlocks::Found look_up(const TrtCapacity::View& view, RequestId id) {
  const SchedulerState& s = view.table.state(id);
  return s.standing == Standing::kWaiting ? view.kv.look_up(id, s.tokens) : TrtBlocks::Found{};
}

std::int64_t held_tokens(const TrtCapacity::View& view, RequestId id) {
  const SchedulerState& s = view.table.state(id);
  return s.standing == Standing::kDecoding ? view.decodes.tokens(id) - 1 : s.tokens;
}

}  // namespace

void TrtCapacity::start(const View& view) {
  fits_.clear();
  paused_.clear();
  skipped_.clear();
  refused_ = {};
  awaited_.clear();
  if (!view.kv.reuses() || !args_.enable_prefix_aware_scheduling ||
      args_.capacity_scheduler_policy == Policy::kStaticBatch) {
    return;
  }
  std::int64_t started = 0;
  for (std::size_t i = 0; started < view.started; ++i) {
    const RequestId id = view.contexts[i];
    const SchedulerState& s = view.table.state(id);
    if (s.standing != Standing::kPrefilling) continue;
    ++started;
    const TrtBlocks::Found found = view.kv.look_up(id, s.tokens);
    if (found.next != 0 && found.shareable) awaited_.push_back(found.next);
  }
}

/// Whether a prompt waits for a block of another one; otherwise notes its own, even if it does not run in the end.
bool TrtCapacity::skip(RequestId id, const TrtBlocks::Found& found, bool again) {
  const bool applies = args_.enable_prefix_aware_scheduling && args_.capacity_scheduler_policy != Policy::kStaticBatch;
  if (!applies || found.next == 0) return false;
  const bool awaited = found.shareable && std::find(awaited_.begin(), awaited_.end(), found.next) != awaited_.end();
  if (awaited || again) {
    skipped_.push_back(id);
    return true;
  }
  if (found.shareable) awaited_.push_back(found.next);
  return false;
}

bool TrtCapacity::decide_at_once(const View& view) {
  start(view);
  if (args_.capacity_scheduler_policy == Policy::kMaxUtilization) return use_at_once(view);
  reserve_contexts(view, view.kv.free() - view.reserved - view.lingering);
  return true;
}

void TrtCapacity::decide_in_order(const View& view) {
  start(view);
  if (args_.capacity_scheduler_policy == Policy::kMaxUtilization) return use_in_order(view);
  std::int64_t available = view.kv.free() - view.lingering;
  for (std::uint32_t at = view.head; at != kNone; at = view.table.state(RequestId(at)).next) {
    const RequestId id(at);
    const SchedulerState& s = view.table.state(id);
    if (s.standing != Standing::kDecoding) continue;
    available -= view.kv.blocks(s.end_tokens) - view.kv.blocks(view.decodes.tokens(id) - 1);
    fits_.push_back({id, false, 0});
  }
  reserve_contexts(view, available);
}

// ---------------------------------------------------------------- whole sequences reserved

void TrtCapacity::reserve_contexts(const View& view, std::int64_t available) {
  if (args_.capacity_scheduler_policy == Policy::kStaticBatch && view.decodes.size() > 0) return;
  for (const RequestId id : view.contexts) {
    const SchedulerState& s = view.table.state(id);
    const TrtBlocks::Found found = look_up(view, id);
    if (skip(id, found, false)) continue;
    // Counts the last token too, which is never stored: one block too many now and then. The credit can be one block
    // too large: the last token of a prompt is computed even if its block is cached.
    const std::int64_t allocated = s.standing == Standing::kPrefilling ? view.kv.blocks(s.tokens) : found.referenced;
    const std::int64_t rest = view.kv.blocks(s.end_tokens) - allocated;
    if (rest > available) {
      refused_ = id;
      return;
    }
    available -= rest;
    fits_.push_back({id, true, found.blocks * args_.tokens_per_block});
  }
}

// ---------------------------------------------------------------- the blocks of a step

std::int64_t TrtCapacity::step_need(const View& view, RequestId id, const TrtBlocks::Found& found) const {
  const SchedulerState& s = view.table.state(id);
  if (s.standing == Standing::kPrefilling) return 0;  // its first chunk took the blocks of the whole prompt
  if (s.standing == Standing::kWaiting) return view.kv.blocks(s.tokens) - found.referenced;
  const std::int64_t tokens = view.decodes.tokens(id);
  return view.kv.blocks(tokens) - view.kv.blocks(tokens - 1);
}

void TrtCapacity::use_in_order(const View& view) {
  const auto state = [&view](std::uint32_t at) -> const SchedulerState& { return view.table.state(RequestId(at)); };
  view.kv.start_imagining();
  std::int64_t free = view.kv.free();
  std::int64_t used = view.lingering;
  std::uint32_t end = kNone, last = view.tail, again = kNone;
  for (std::uint32_t at = view.head; at != end;) {
    const RequestId id(at);
    const TrtBlocks::Found found = look_up(view, id);
    if (skip(id, found, at == again)) {
      at = state(at).next;
      continue;
    }
    const std::int64_t need = step_need(view, id, found);
    if (used + need <= free) {
      used += need;
      const bool context = state(at).standing != Standing::kDecoding;
      fits_.push_back({id, context, found.blocks * args_.tokens_per_block});
      at = state(at).next;
      continue;
    }
    // The last started request gives way, be it the one that asks.
    while (last != at && state(last).standing == Standing::kWaiting) last = state(last).previous;
    if (state(last).standing == Standing::kWaiting) {
      refused_ = id;
      return;
    }
    free += view.kv.imagine_release(RequestId(last), held_tokens(view, RequestId(last)));
    paused_.push_back(RequestId(last));
    end = last;
    last = state(last).previous;
    again = at;
  }
}

bool TrtCapacity::use_at_once(const View& view) {
  const std::int64_t free = view.kv.free();
  std::int64_t used = view.lingering + (view.decodes.size() > 0 ? view.decodes.new_blocks(0) : 0);
  if (used > free) return false;
  for (const RequestId id : view.contexts) {
    const TrtBlocks::Found found = look_up(view, id);
    if (skip(id, found, false)) continue;
    used += step_need(view, id, found);
    if (used > free) {
      const std::uint64_t place = view.table.state(id).admission;
      const bool prompt_behind = std::any_of(view.contexts.begin(), view.contexts.end(), [&](RequestId other) {
        const SchedulerState& s = view.table.state(other);
        return s.standing == Standing::kPrefilling && s.admission >= place;
      });
      if (prompt_behind || (view.decodes.size() > 0 && view.decodes.youngest() > place)) return false;
      refused_ = id;
      return true;
    }
    fits_.push_back({id, true, found.blocks * args_.tokens_per_block});
  }
  return true;
}

}  // namespace poolcast
