// SPDX-License-Identifier: Apache-2.0
#include "sim/step_replica.h"

#include <algorithm>

#include "sim/schedulers/registry.h"

namespace poolcast {

StepReplica::StepReplica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, bool stepwise, RequestTable& table,
                         const std::vector<Histogram*>& gaps, std::uint64_t seed)
    : slot_(slot),
      pool_(pool),
      stepwise_(stepwise),
      table_(table),
      gaps_(gaps),
      busy_(pool.curve ? pool.curve->busy() : nullptr),
      max_running_(max_running(pool.engine)),
      scheduler_(make_scheduler(pool.engine, table, gaps.size(), seed)),
      rows_(table),
      messages_(stream_interval(pool.engine), table, gaps),
      ahead_(scheduler_->plans_ahead()) {
  report_.pool = pool_id;
  report_.kv_blocks_usable = scheduler_->usable_blocks();
}

const ReplicaReport& StepReplica::report() {
  report_.prefix = scheduler_->prefix_stats();
  report_.speculation = scheduler_->speculation_stats();
  report_.departures = scheduler_->departures();
  return report_;
}

KvReading StepReplica::read_kv(SimTime now) const {
  const std::int64_t usable = report_.kv_blocks_usable;
  if (usable == 0) return {};
  std::int64_t used = usable - scheduler_->free_blocks();
  SimTime until = kNever;
  if (steps_in_flight_ > 1) {
    const std::int64_t begun = begun_by(now, ahead_);
    used += scheduler_->opened_by(begun);
    if (begun < steps_in_flight_) until = step_end(composition_.steps + begun) - (ahead_ ? 1 : 0);
  }
  return {static_cast<double>(used) / static_cast<double>(usable), until};
}

bool StepReplica::full() const {
  const std::int64_t limit = pool_.max_pending_requests;
  if (waiting() != limit) return waiting() > limit;
  return waiting() + running() >= max_running_;
}

// ---------------------------------------------------------------- requests come and go

void StepReplica::enqueue(RequestId id, SimTime now, EventQueue& events) {
  if (log_ != nullptr) log_queued(id, now);
  scheduler_->enqueue(id);
  ++report_.requests;
  report_.waiting_max = std::max(report_.waiting_max, waiting());
  reconsider(now, events);
}

/// Somebody may get in who did not before.
void StepReplica::reconsider(SimTime now, EventQueue& events) {
  if (steps_in_flight_ == 0) {
    events.set(slot_, now, Phase::kStepStart);
  } else if (steps_in_flight_ > 1 && scheduler_->may_admit()) {
    cut(now, events);
  }
}

/// Blocks are about to come free: KV use changes, and somebody may get in.
void StepReplica::cut_for_blocks(SimTime now, EventQueue& events) {
  if (steps_in_flight_ == 0) return events.set(slot_, now, Phase::kStepStart);
  if (steps_in_flight_ == 1) return;
  publish_cache(now);
  cut(now, events);
  scheduler_->begun(steps_in_flight_);
}

void StepReplica::loaded(RequestId id, SimTime now, EventQueue& events) {
  scheduler_->loaded(id);
  reconsider(now, events);
}

void StepReplica::release_handed(RequestId id, SimTime now, EventQueue& events) {
  cut_for_blocks(now, events);
  scheduler_->release_handed(id);
}

bool StepReplica::abort(RequestId id, SimTime now, EventQueue& events) {
  const Standing standing = table_.state(id).standing;
  if (standing == Standing::kLoading) cut_for_blocks(now, events);
  if (standing == Standing::kWaiting || standing == Standing::kLoading) {
    scheduler_->abort(id);
    // It may have stood before one that fits.
    if (steps_in_flight_ > 1 && scheduler_->may_admit()) cut(now, events);
    return true;
  }
  if (steps_in_flight_ == 0) {  // at a step boundary, or the replica is stuck
    stop_lagging(id);
    forget(id);
    messages_.leave(id);
    scheduler_->abort(id);
    events.set(slot_, now, Phase::kStepStart);
    return true;
  }
  aborted_.push_back(id);
  if (steps_in_flight_ > 1) cut(now, events);
  return false;
}

/// Steps of the leap in progress up to the first boundary at or after `now`; after it, where the step that starts at
/// `now` has been planned by now.
std::int64_t StepReplica::begun_by(SimTime now, bool planned) const {
  const Composition& c = composition_;
  const SimTime at = now + (planned ? 1 : 0);
  const auto ends_in_time = [&](std::int64_t step) { return step_end(c.steps + step) >= at; };
  std::int64_t low = 1, high = steps_in_flight_;
  // Steps of a run are nearly alike: a guess, and from there in strides that double.
  const double gap_ns = 1e9 * (c.first_s + static_cast<double>(c.steps) * c.growth_s);
  const double passed = static_cast<double>(at - step_start_) / gap_ns;
  const std::int64_t guess = passed < static_cast<double>(high) ? static_cast<std::int64_t>(passed) + 1 : high;
  if (guess > low && guess < high) {
    const bool down = ends_in_time(guess);
    (down ? high : low) = down ? guess : guess + 1;
    for (std::int64_t stride = 1; low + stride < high; stride *= 2) {
      const std::int64_t step = down ? high - stride : low + stride - 1;
      const bool in_time = ends_in_time(step);
      (in_time ? high : low) = in_time ? step : step + 1;
      if (in_time != down) break;
    }
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (ends_in_time(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Shortens the leap in progress to that boundary.
void StepReplica::cut(SimTime now, EventQueue& events) {
  const std::int64_t low = begun_by(now, ahead_ && !events.ends_later(slot_));
  if (low == steps_in_flight_) return;
  steps_in_flight_ = low;
  events.set(slot_, step_end(composition_.steps + low), Phase::kStepEnd);
}

std::vector<RequestId> StepReplica::give_up(EventQueue& events) {
  events.remove(slot_);
  steps_in_flight_ = 0;
  composition_.active = false;
  report_.stalled = true;
  aborted_.clear();
  lagging_.clear();
  messages_.clear();
  barren_preemptions_ = 0;
  const std::vector<RequestId> held = scheduler_->take_all();
  for (const RequestId id : held) forget(id);
  return held;
}

// ---------------------------------------------------------------- the start of a step

void StepReplica::start_step(SimTime now, EventQueue& events) {
  plan_step();
  launch(now, events);
}

void StepReplica::plan_step() {
  plan_ = stepwise_ ? &scheduler_->schedule_literally() : &scheduler_->schedule();
  fresh_ = true;
}

void StepReplica::launch(SimTime now, EventQueue& events) {
  const StepPlan& plan = *plan_;
  note_preempted(plan, now);
  if (log_ != nullptr) log_launch(plan, now);
  report_.recomputed_tokens += plan.recomputed;
  for (const RequestId id : plan.admitted) {
    SimTime& first = table_.record(id).at.first_scheduled;
    if (first == kNever) first = now;
  }
  step_start_ = now;
  published_ = 0;
  if (plan.tokens == 0) {
    steps_in_flight_ = 0;
    composition_.active = false;
    if (kv_events_) kv_events_->publish(now);  // a step that holds nothing ends at once
    // Whoever asked for blocks had to give way itself: an empty step, after which the others find its blocks.
    if (!plan.preempted.empty()) return events.set(slot_, now, Phase::kStepEnd);
    if (plan.again) return events.set(slot_, now, Phase::kStepStart);
    return events.remove(slot_);
  }
  report_.compiled += plan.compiled;
  if (plan.decode_only() && plan.stall.value == 0 && !pool_.executor) {
    plan_decode_run(plan, now);
    events.set(slot_, step_end(composition_.steps + steps_in_flight_), Phase::kStepEnd);
  } else {
    composition_.active = false;
    steps_in_flight_ = 1;
    events.set(slot_, later(now, to_sim_time(plan.stall + step_time(plan))), Phase::kStepEnd);
  }
}

Seconds StepReplica::step_time(const StepPlan& plan) {
  if (pool_.executor) return pool_.executor->run(rows_.spell_out(plan, scheduler_->decodes()));
  const StepShape shape = shape_of(plan);
  in_range_ = pool_.curve->in_range(shape);
  if (busy_ != nullptr) work_ = to_sim_time(busy_->step(shape));
  return pool_.curve->step(shape);
}

StepShape StepReplica::shape_of(const StepPlan& plan) {
  StepShape shape{plan.tokens, plan.sampled, plan.decode_requests, plan.decode_context, plan.prefill};
  const Padding& padding = plan.padding;
  if (padding.tokens == 0) return shape;
  shape.tokens = padding.tokens;
  shape.sampled = padding.sampled;
  if (!plan.padded_prefill.empty()) shape.prefill = plan.padded_prefill;
  if (padding.decode_context > 0) {
    shape.decode_requests = padding.decode_requests;
    shape.decode_context = padding.decode_context;
  }
  return shape;
}

/// How the steps of a run grow with their context.
DecodeLine StepReplica::decode_line(const StepPlan& plan) const {
  if (plan.padding.tokens == 0) return pool_.curve->decode_line(plan.decode_requests, plan.decode_context);
  const double first_s = pool_.curve->step(shape_of(plan)).value;
  if (plan.padding.decode_context > 0) return {.base_s = first_s};  // every step runs the same shape
  DecodeLine line = pool_.curve->decode_line(plan.decode_requests, plan.decode_context);
  line.base_s = first_s - line.slope_s_per_token * static_cast<double>(plan.decode_context);
  return line;
}

void StepReplica::plan_decode_run(const StepPlan& plan, SimTime now) {
  Composition& c = composition_;
  const std::uint64_t version = scheduler_->decodes().version();
  if (!c.active || c.version != version || plan.decode_context > c.last_context || c.padding != plan.padding) {
    const DecodeLine line = decode_line(plan);
    c.active = true;
    c.padding = plan.padding;
    c.version = version;
    c.start = now;
    c.steps = 0;
    c.first_s = line.base_s + line.slope_s_per_token * static_cast<double>(plan.decode_context);
    c.growth_s = line.slope_s_per_token * static_cast<double>(plan.decode_requests);
    c.last_context = line.last_context;
    if (busy_ != nullptr) {
      const DecodeLine work = busy_->decode_line(plan.decode_requests, plan.decode_context);
      c.first_work_s = work.at(plan.decode_context);
      c.growth_work_s = work.slope_s_per_token * static_cast<double>(plan.decode_requests);
    }
    in_range_ = pool_.curve->in_range(shape_of(plan));
  }
  const bool single = stepwise_ || !lagging_.empty();
  steps_in_flight_ = single ? 1 : scheduler_->certain_steps(c.last_context);
}

/// The sum of an arithmetic series, rounded once.
SimTime StepReplica::step_end(std::int64_t step) const {
  const auto n = static_cast<double>(step);
  const double pairs = static_cast<double>(step * (step - 1) / 2);
  return later(composition_.start, to_sim_time(Seconds(n * composition_.first_s + pairs * composition_.growth_s)));
}

SimTime StepReplica::step_gap(std::int64_t step) const {
  return to_sim_time(Seconds(composition_.first_s + static_cast<double>(step - 1) * composition_.growth_s));
}

SimTime StepReplica::work_end(std::int64_t step) const {
  const auto n = static_cast<double>(step);
  const double pairs = static_cast<double>(step * (step - 1) / 2);
  return to_sim_time(Seconds(n * composition_.first_work_s + pairs * composition_.growth_work_s));
}

/// The executor may let go of its KV.
void StepReplica::forget(RequestId id) {
  if (!pool_.executor) return;
  rows_.left(id);
  pool_.executor->forget(id);
}

void StepReplica::note_preempted(const StepPlan& plan, SimTime now) {
  for (const StepPlan::Preempted& p : plan.preempted) {
    if (p.was_decoding && !p.undone && !table_.state(p.id).lagging) table_.record(p.id).at.last_token = now;
    if (messages_.bundles()) messages_.leave(p.id);
    stop_lagging(p.id);
    forget(p.id);
    ++report_.preemptions;
    ++barren_preemptions_;
  }
}

// ---------------------------------------------------------------- the end of a step

const std::vector<RequestId>& StepReplica::end_step(SimTime now, EventQueue& events) {
  const std::int64_t steps = steps_in_flight_;
  const StepPlan& plan = *plan_;
  fresh_ = false;
  left_.clear();
  if (steps == 0) {
    events.set(slot_, now, Phase::kStepStart);
    return left_;
  }
  if (log_ != nullptr) log_end(steps, now);
  if (kv_events_) {
    publish_steps(steps - 1);
    scheduler_->settle_cache(steps);
  }
  find_gaps(now);
  const StepOutcome& outcome = scheduler_->finish(steps);
  count_steps(plan, outcome, now);
  note_messages();
  left_ = outcome.ended;
  prefilled_ = outcome.prefilled;
  std::size_t ended = left_.size();
  for (const RequestId id : aborted_) {
    const Standing standing = table_.state(id).standing;
    if (standing == Standing::kGone || standing == Standing::kHanded) continue;  // ended in this very step
    stop_lagging(id);
    scheduler_->abort(id);
    left_.push_back(id);
  }
  aborted_.clear();
  if (pool_.executor) {
    rows_.joined(prefilled_);
    for (const RequestId id : left_) forget(id);
  }
  if (ahead_) {
    plan_step();
    take_back(ended);
  }
  if (kv_events_) publish_last(steps, now);
  add_gaps(steps);
  settle_tokens(ended, now);
  if (composition_.active) composition_.steps += steps;
  if (!left_.empty()) barren_preemptions_ = 0;
  steps_in_flight_ = 0;
  if (ahead_) {
    launch(now, events);
  } else {
    events.set(slot_, now, Phase::kStepStart);
  }
  return left_;
}

/// What the step planned ahead undoes of the one that has just ended.
void StepReplica::take_back(std::size_t& ended) {
  for (const StepPlan::Preempted& p : plan_->preempted) {
    if (!p.undone) continue;
    ended -= std::erase(left_, p.id);
    if (std::erase(prefilled_, p.id) == 0 &&
        std::erase_if(caught_up_, [&](const CaughtUp& c) { return c.id == p.id; }) == 0) {
      undone_.push_back(p.id);
      messages_.undo(p.id);
      table_.record(p.id).at.last_token = last_step_start_;
    }
    if (table_.record(p.id).outcome == Outcome::kCompleted) continue;
    scheduler_->abort(p.id);  // it was to leave at the end of that step
    left_.push_back(p.id);
  }
}

void StepReplica::count_steps(const StepPlan& plan, const StepOutcome& outcome, SimTime now) {
  const std::int64_t steps = steps_in_flight_;
  ReplicaReport& r = report_;
  r.steps += static_cast<std::uint64_t>(steps);
  if (plan.decode_only()) r.decode_steps += static_cast<std::uint64_t>(steps);
  if (!in_range_) r.extrapolated_steps += static_cast<std::uint64_t>(steps);
  r.leaps += steps > 1;
  r.busy += now - step_start_;
  if (busy_ != nullptr) {
    const Composition& c = composition_;
    r.stage_work += c.active ? work_end(c.steps + steps) - work_end(c.steps) : work_;
  }
  r.scheduled_tokens += (plan.tokens - plan.wasted) * steps - outcome.rejected;
  r.rejected_tokens += outcome.rejected;
  r.wasted_tokens += plan.wasted * steps;
  if (plan.padding.tokens > 0) r.padded_tokens += (plan.padding.tokens - plan.tokens) * steps;
  r.running_steps += plan.requests * steps;
  r.running_max = std::max(r.running_max, plan.requests);
  r.kv_block_steps += outcome.block_steps;
  r.kv_blocks_max = std::max(r.kv_blocks_max, outcome.blocks_used);
}

}  // namespace poolcast
