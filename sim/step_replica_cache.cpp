// SPDX-License-Identifier: Apache-2.0
// What a replica tells of its prefix cache.
#include "sim/step_replica.h"

namespace poolcast {

KvEvents* StepReplica::tell_cache() {
  if (!kv_events_) kv_events_ = std::make_unique<KvEvents>();
  return scheduler_->tell_cache(kv_events_.get()) ? kv_events_.get() : nullptr;
}

void StepReplica::publish_cache(SimTime now) {
  if (kv_events_ && steps_in_flight_ > 1) publish_steps(begun_by(now, true) - 1);
}

/// The first `ended` steps of the run in progress have ended, and the one behind them has begun.
void StepReplica::publish_steps(std::int64_t ended) {
  while (published_ < ended) {
    ++published_;
    const std::int64_t told = published_ + (ahead_ ? 1 : 0);  // a step planned ahead is in the batch of the one before
    if (told == 1 || scheduler_->changes_cache(told)) scheduler_->settle_cache(told);
    kv_events_->publish(step_end(composition_.steps + published_));
  }
}

/// The last of `steps` steps ends. What came about since it was looked at belongs to the next.
void StepReplica::publish_last(std::int64_t steps, SimTime now) {
  if (ahead_) scheduler_->settle_cache(1);
  if (published_ < steps) kv_events_->publish(now);
}

}  // namespace poolcast
