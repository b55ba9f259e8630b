// SPDX-License-Identifier: Apache-2.0
// What Engine does when the time of a request is up.
#include "sim/engine.h"

namespace poolcast {

/// A time-out is of one try, patience of all of them.
void Engine::add_deadlines(RequestId id) {
  const RequestRecord& r = table_.record(id);
  const ClassSpec& cls = spec_.classes[r.cls.value];
  const SimTime allowances[] = {cls.timeout, cls.patience};
  for (std::uint32_t kind = 0; kind < 2; ++kind) {
    if (allowances[kind] == kNever) continue;
    const std::uint32_t queue = 2 * r.cls.value + kind;
    deadlines_[queue].add(id, kind == 0 ? now_ : r.at.sent);
    schedule_deadline(queue);
  }
}

void Engine::deadline(std::uint32_t queue) {
  if (deadlines_[queue].next() <= now_) {  // the request that set the event may have ended in time
    miss_deadline(deadlines_[queue].pop(), queue % 2 == 1);
  }
  schedule_deadline(queue);
}

void Engine::miss_deadline(RequestId id, bool patience) {
  RequestRecord& r = table_.record(id);
  if (r.outcome != Outcome::kCompleted) return;  // it missed another one before
  if (patience && r.at.first_token != kNever) return;
  r.outcome = patience ? Outcome::kCancelled : Outcome::kTimedOut;
  r.reason = patience ? Reason::kPatience : Reason::kTimeout;
  if (waits_in_flow(id)) return leave_flow(id, r.outcome, r.reason);
  const RequestId leg = partner(id);
  if (leg.valid() && table_.state(leg).standing != Standing::kHanded) {  // still on the replica that prefills
    if (change(r.prefill_replica.value).abort(leg, now_, events_)) prompt_left(leg);
    return;
  }
  if (change(r.replica.value).abort(id, now_, events_)) leave(id);
}

void Engine::schedule_deadline(std::uint32_t queue) {
  const SimTime next = deadlines_[queue].next();
  if (next == kNever) {
    events_.remove(deadline_slot(queue));
  } else {
    events_.set(deadline_slot(queue), next, Phase::kDeadline);
  }
}

}  // namespace poolcast
