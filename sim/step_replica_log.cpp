// SPDX-License-Identifier: Apache-2.0
// What StepReplica writes down for `explain`.
#include <algorithm>

#include "sim/step_replica.h"

namespace poolcast {

namespace {

using Stage = DecisionLog::Stage;

/// A step like the ones before it lengthens their stage.
void add(std::vector<Stage>& stages, const Stage& step) {
  if (!stages.empty()) {
    Stage& last = stages.back();
    if (last.kind == step.kind && last.replica == step.replica && last.steps > 0 && last.end == step.start) {
      last.end = step.end;
      last.steps += step.steps;
      last.tokens += step.tokens;
      last.least_batch = std::min(last.least_batch, step.least_batch);
      last.most_batch = std::max(last.most_batch, step.most_batch);
      return;
    }
  }
  stages.push_back(step);
}

}  // namespace

/// Before the request joins the queue.
void StepReplica::log_queued(RequestId id, SimTime now) {
  const RequestRecord& r = table_.record(id);
  if (!log_->wants(r)) return;
  logged_ = id;
  log_->stages.push_back(
      {Stage::Kind::kQueued, ReplicaId(slot_), now, now, 0, r.prompt_tokens, 0, waiting(), running(), 0});
}

void StepReplica::log_launch(const StepPlan& plan, SimTime now) {
  logged_step_.reset();
  if (!logged_.valid() || !log_->wants(table_.record(logged_))) return;
  const SchedulerState& s = table_.state(logged_);
  for (const StepPlan::Preempted& p : plan.preempted) {
    if (p.id != logged_) continue;
    log_->stages.push_back({Stage::Kind::kPreempted, ReplicaId(slot_), now, now, 0, p.dropped, 0, 0, 0, 0});
  }
  Stage step{Stage::Kind::kDecode, ReplicaId(slot_), now, now, 0, 1, 0, plan.requests, plan.requests, plan.tokens};
  const auto chunk = std::find(plan.prefill_ids.begin(), plan.prefill_ids.end(), logged_);
  const bool starved = std::find(plan.starved.begin(), plan.starved.end(), logged_) != plan.starved.end();
  if (chunk != plan.prefill_ids.end()) {
    const PrefillChunk& part = plan.prefill[static_cast<std::size_t>(chunk - plan.prefill_ids.begin())];
    if (!s.drafted) step.kind = Stage::Kind::kPrefill;
    step.tokens = part.query;
    step.context = part.context;
  } else if (starved) {
    step.kind = Stage::Kind::kStarved;
    step.tokens = 0;
  } else if (s.standing != Standing::kDecoding) {
    return;
  }
  logged_step_ = step;
}

void StepReplica::log_end(std::int64_t steps, SimTime now) {
  if (!logged_step_ || steps == 0) return;
  logged_step_->end = now;
  logged_step_->steps = steps;
  logged_step_->tokens *= steps;
  add(log_->stages, *logged_step_);
  logged_step_.reset();
}

}  // namespace poolcast
