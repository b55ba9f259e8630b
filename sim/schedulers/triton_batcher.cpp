// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/triton_batcher.h"

#include <algorithm>
#include <utility>

namespace poolcast {
namespace {

constexpr SimTime kTick = 500'000'000;  ///< the longest sleep of the thread (default_wait_microseconds)

bool plain(const TritonArgs::QueuePolicy& policy) {
  return policy.default_timeout_microseconds == 0 && policy.max_queue_size == 0;
}

}  // namespace

TritonBatcher::TritonBatcher(const TritonArgs& args)
    : max_batch_(std::max<std::int64_t>(1, args.max_batch_size)),
      batching_(args.dynamic_batching && args.max_batch_size > 0),
      preferred_(args.preferred_batch_size),
      delay_(args.max_queue_delay_microseconds * 1000),
      instances_(args.instance_count),
      prefetch_(args.priority_levels == 0 && plain(args.default_queue_policy)),
      queue_(batching_ ? args : TritonArgs{}),
      idle_(args.instance_count) {
  if (preferred_.empty()) preferred_.push_back(max_batch_);
}

bool TritonBatcher::preferred(std::int64_t size) const {
  return std::find(preferred_.begin(), preferred_.end(), size) != preferred_.end();
}

/// Whether a payload may be handed over now. Late binding lets priorities and timeouts act until the last moment.
bool TritonBatcher::slot_free() const {
  const auto line = static_cast<std::int64_t>(line_.size());
  return prefetch_ ? line < 2 * instances_ : line < idle_;
}

bool TritonBatcher::enqueue(RequestId id, std::int32_t priority, SimTime now) {
  if (!queue_.add(id, priority, now)) return false;
  if (!batching_) {
    feed_instances(now);
    return true;
  }
  const bool closed = saturated_ || payload_ == Payload::kTaken;
  if (slot_free() && (closed || queue_.size() >= next_preferred_)) notified_ = true;
  // The thread wakes every tick; that matters only when there is something for it to see.
  const bool looks = sleep_ == Sleep::kRequest || (sleep_ == Sleep::kSlot && queue_.rejects_late());
  if (looks && wake_ == kNever) wake_ = next_tick(now);
  return true;
}

void TritonBatcher::instance_freed(SimTime now) {
  ++idle_;
  notified_ = batching_;
  feed_instances(now);
}

// ---------------------------------------------------------------- the thread

void TritonBatcher::run(SimTime now) {
  const bool tick = sleep_ == Sleep::kSlot && wake_ <= now;
  notified_ = false;
  for (;;) {
    if (saturated_ || payload_ == Payload::kTaken) {
      payload_ = Payload::kNew;
      saturated_ = false;
      next_preferred_ = 0;
    }
    if (queue_.empty()) return sleep(Sleep::kRequest, now);
    if (!slot_free()) {
      if (tick) queue_.drop_expired(now, rejected_);
      return sleep(Sleep::kSlot, now);
    }
    sleep_ = Sleep::kDelay;  // the wait for a slot is over
    const SimTime wait = gather(now);
    if (wait > 0) {
      sleep(Sleep::kDelay, now);
      wake_ = later(now, wait);
      return;
    }
    if (pending_ > 0) hand_over(now);
  }
}

void TritonBatcher::sleep(Sleep on, SimTime now) {
  if (on != Sleep::kSlot || sleep_ != Sleep::kSlot) since_ = now;  // a wait for a slot goes on through false alarms
  sleep_ = on;
  wake_ = on == Sleep::kSlot && queue_.rejects_late() && !queue_.empty() ? next_tick(now + 1) : kNever;
  notified_ = false;
}

/// The first tick of the present sleep that is not before `from`.
SimTime TritonBatcher::next_tick(SimTime from) const {
  const SimTime ticks = std::max<SimTime>(1, (from - since_ + kTick - 1) / kTick);
  return since_ + ticks * kTick;
}

/// GetDynamicBatch: chooses how many requests from the head of the queue (`pending_`) join the payload. Returns how
/// long to wait before looking again; 0: take them.
SimTime TritonBatcher::gather(SimTime now) {
  const std::int64_t in_payload = payload_size();
  const std::int64_t most_preferred = preferred_.back();
  std::int64_t pending = 0, best = 0;
  SimTime oldest = kNever, best_oldest = kNever, first_deadline = kNever;
  bool send = false;
  queue_.scan(now, rejected_, [&](const TritonQueue::Entry& entry) {
    if (in_payload + pending > 0) {
      if (in_payload + pending + 1 > most_preferred && best == 0) {
        best = pending;
        best_oldest = oldest;
        saturated_ = true;
      }
      if (in_payload + pending + 1 > max_batch_) {
        send = true;
        return false;
      }
    }
    ++pending;
    oldest = std::min(oldest, entry.arrival);
    first_deadline = std::min(first_deadline, entry.deadline);
    if (preferred(in_payload + pending)) {
      best = pending;
      best_oldest = oldest;
    }
    return true;
  });
  pending_ = pending;
  pending_oldest_ = oldest;
  const bool exceeded = delay_ > 0 && pending > 0 && now - oldest >= delay_;
  if (best > 0 && !exceeded) {
    if (delay_ == 0) saturated_ = true;
    pending_ = best;
    pending_oldest_ = best_oldest;
    return 0;
  }
  if (pending == 0) return 0;
  if (send || in_payload + pending >= most_preferred) {
    saturated_ = true;
    return 0;
  }
  if (exceeded || delay_ == 0) return 0;  // it may still grow
  const auto above = std::upper_bound(preferred_.begin(), preferred_.end(), in_payload + pending);
  next_preferred_ = (above == preferred_.end() ? preferred_.front() : *above) - in_payload;
  if (!saturated_ && in_payload > 0 && !preferred(in_payload)) return 0;
  return std::min(oldest + delay_, first_deadline) - now;
}

void TritonBatcher::hand_over(SimTime now) {
  if (payload_ == Payload::kNew) {
    line_.emplace_back();
    payload_ = Payload::kInLine;
  }
  Waiting& payload = line_.back();
  for (; pending_ > 0; --pending_) {
    payload.requests.push_back(queue_.pop());
    ++in_line_;
  }
  payload.oldest = std::min(payload.oldest, pending_oldest_);
  feed_instances(now);
}

// ---------------------------------------------------------------- the line

/// Idle instances take payloads from the head of the line. With a delay, one takes the next payloads as well while
/// they are older than the delay and all fit into one batch.
void TritonBatcher::feed_instances(SimTime now) {
  while (!batching_ && idle_ > 0 && !queue_.empty()) {
    started_.push_back({queue_.pop()});
    --idle_;
  }
  while (idle_ > 0 && !line_.empty()) {
    Waiting head = std::move(line_.front());
    line_.pop_front();
    const auto size = [](const Waiting& w) { return static_cast<std::int64_t>(w.requests.size()); };
    while (delay_ > 0 && !line_.empty() && now - line_.front().oldest > delay_ &&
           size(head) + size(line_.front()) <= max_batch_) {
      head.requests.insert(head.requests.end(), line_.front().requests.begin(), line_.front().requests.end());
      line_.pop_front();
    }
    if (line_.empty() && payload_ == Payload::kInLine) payload_ = Payload::kTaken;
    in_line_ -= size(head);
    started_.push_back(std::move(head.requests));
    --idle_;
    notified_ = true;
  }
}

std::vector<RequestId> TritonBatcher::take_all() {
  std::vector<RequestId> held;
  for (const Waiting& w : line_) held.insert(held.end(), w.requests.begin(), w.requests.end());
  queue_.take_all(held);
  line_.clear();
  in_line_ = 0;
  if (payload_ == Payload::kInLine) payload_ = Payload::kTaken;
  wake_ = kNever;
  notified_ = false;
  return held;
}

}  // namespace poolcast
