// SPDX-License-Identifier: Apache-2.0
// The gaps between tokens that StepReplica counts.
#include <algorithm>

#include "sim/step_replica.h"

namespace poolcast {

/// Finds out who got a token in the step that ends: in a run everybody alike; else all but the starved ones, those that
/// went without in the step before with a longer gap.
void StepReplica::find_gaps(SimTime now) {
  due_ = scheduler_->decodes().by_group();
  caught_up_.clear();
  undone_.clear();
  run_ = composition_.active && lagging_.empty();
  last_step_start_ = composition_.active ? step_end(composition_.steps + steps_in_flight_ - 1) : step_start_;
  if (run_) return;
  gap_ = composition_.active ? step_gap(composition_.steps + 1) : now - step_start_;
  for (const RequestId id : plan_->starved) --due_[table_.state(id).group];
  for (const RequestId id : lagging_) {
    if (table_.state(id).starved) continue;
    --due_[table_.state(id).group];
    caught_up_.push_back({id, now - table_.record(id).at.last_token});
  }
  note_starved();
}

void StepReplica::add_gaps(std::int64_t steps) {
  if (messages_.bundles()) return;  // gaps are between messages
  const std::int64_t first = composition_.steps + 1, last = composition_.steps + steps;
  if (run_ && !undone_.empty()) add_run_gaps(first, last - 1);
  for (const RequestId id : undone_) --due_[table_.state(id).group];  // they miss the last step only
  add_late_gaps();
  if (run_) return add_run_gaps(undone_.empty() ? first : last, last);
  for (std::size_t group = 0; group < gaps_.size(); ++group) {
    if (due_[group] > 0 && gaps_[group]) gaps_[group]->add(gap_, static_cast<std::uint64_t>(due_[group]));
  }
}

/// Most of those that went without did so together, so that their gaps are alike.
void StepReplica::add_late_gaps() {
  for (std::size_t i = 0, next = 0; i < caught_up_.size(); i = next) {
    const std::uint16_t group = table_.state(caught_up_[i].id).group;
    for (next = i + 1; next < caught_up_.size(); ++next) {
      if (caught_up_[next].gap != caught_up_[i].gap || table_.state(caught_up_[next].id).group != group) break;
    }
    if (gaps_[group]) gaps_[group]->add(caught_up_[i].gap, next - i);
  }
}

/// Counts the gaps of steps `first` to `last` of the composition for those that are due, bucket by bucket.
void StepReplica::add_run_gaps(std::int64_t first, std::int64_t last) {
  while (first <= last) {
    const std::size_t bucket = Histogram::bucket(step_gap(first));
    std::int64_t same = last;  // the last step of this bucket; gaps never shrink
    if (Histogram::bucket(step_gap(last)) != bucket) {
      std::int64_t beyond = last;
      same = first;
      while (same + 1 < beyond) {
        const std::int64_t middle = same + (beyond - same) / 2;
        (Histogram::bucket(step_gap(middle)) == bucket ? same : beyond) = middle;
      }
    }
    const auto sum = static_cast<std::uint64_t>(step_end(same) - step_end(first - 1));
    const auto steps = static_cast<std::uint64_t>(same - first + 1);
    for (std::size_t group = 0; group < gaps_.size(); ++group) {
      const auto count = static_cast<std::uint64_t>(due_[group]);
      if (count > 0 && gaps_[group]) gaps_[group]->add_run(bucket, count * steps, count * sum, step_gap(same));
    }
    first = same + 1;
  }
}

void StepReplica::note_starved() {
  for (const RequestId id : lagging_) table_.state(id).lagging = table_.state(id).starved;
  for (const RequestId id : plan_->starved) {
    SchedulerState& state = table_.state(id);
    if (!state.lagging) table_.record(id).at.last_token = step_start_;
    state.lagging = true;
  }
  lagging_ = plan_->starved;
}

void StepReplica::add_gap(RequestId id, SimTime gap) {
  Histogram* histogram = gaps_[table_.state(id).group];
  if (histogram) histogram->add(gap);
}

void StepReplica::settle_tokens(std::size_t ended, SimTime now) {
  for (const RequestId id : prefilled_) {
    Instants& at = table_.record(id).at;
    if (at.first_token == kNever) {
      at.first_token = now;
    } else if (!messages_.bundles()) {
      add_gap(id, now - at.last_token);  // resumed after a preemption
    }
    at.last_token = now;
  }
  if (messages_.bundles()) send_messages(ended, now);
  for (std::size_t i = 0; i < ended; ++i) {
    table_.record(left_[i]).at.last_token = now;
    report_.completed += table_.record(left_[i]).outcome == Outcome::kCompleted;
  }
}

void StepReplica::stop_lagging(RequestId id) {
  if (!table_.state(id).lagging) return;
  table_.state(id).lagging = false;
  std::erase(lagging_, id);
}

// ---------------------------------------------------------------- messages of several tokens

std::int64_t StepReplica::outputs(RequestId id) const {
  const SchedulerState& s = table_.state(id);
  return (s.standing == Standing::kDecoding ? scheduler_->decodes().tokens(id) : s.tokens) - s.prompt_tokens;
}

void StepReplica::note_messages() {
  if (!messages_.bundles()) return;
  messages_.note([this](RequestId id) { return outputs(id); },
                 [this](RequestId id) { return table_.state(id).standing == Standing::kDecoding; });
}

/// Those of the run that ends, the first `ended` of `left_` being the requests that ended in it.
void StepReplica::send_messages(std::size_t ended, SimTime now) {
  const std::int64_t last = composition_.steps + steps_in_flight_;
  messages_.send([&](std::int64_t back) { return back == 0 ? now : step_end(last - back); });
  const auto ends = left_.begin() + static_cast<std::ptrdiff_t>(ended);
  for (const RequestId id : prefilled_) {
    const bool over = std::find(left_.begin(), ends, id) != ends;
    messages_.produced(id, outputs(id), now, over);
    if (table_.state(id).standing == Standing::kDecoding) messages_.join(id);
  }
  for (auto gone = ends; gone != left_.end(); ++gone) messages_.leave(*gone);
}

}  // namespace poolcast
