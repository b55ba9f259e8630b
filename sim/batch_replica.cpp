// SPDX-License-Identifier: Apache-2.0
#include "sim/batch_replica.h"

#include <algorithm>
#include <utility>

#include "sim/schedulers/registry.h"
#include "sim/schedulers/session_speed.h"

namespace poolcast {
namespace {

TritonArgs sessions_as_instances(const SessionArgs& args) {
  TritonArgs instances;
  instances.dynamic_batching = false;
  instances.max_batch_size = 1;
  instances.instance_count = args.instance_count;
  instances.passes = args.passes;
  instances.passes_by_output = args.passes_by_output;
  return instances;
}

}  // namespace

BatchReplica::BatchReplica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, const TritonArgs& args,
                           RequestTable& table)
    : slot_(slot),
      pool_(pool),
      table_(table),
      preserve_ordering_(args.preserve_ordering),
      instances_(args.instance_count),
      max_running_(max_running(pool.engine)),
      passes_(args.passes),
      passes_by_output_(args.passes_by_output),
      batcher_(args) {
  report_.pool = pool_id;
  report_.instances = instances_;
}

BatchReplica::BatchReplica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, const SessionArgs& args,
                           RequestTable& table)
    : BatchReplica(slot, pool_id, pool, sessions_as_instances(args), table) {
  sessions_ = &args;
}

bool BatchReplica::full() const {
  const std::int64_t limit = pool_.max_pending_requests;
  if (waiting() != limit) return waiting() > limit;
  return waiting() + running() >= max_running_;
}

SimTime BatchReplica::busy(SimTime now) const {
  SimTime sum = busy_;
  for (const Running& batch : batches_) {
    if (!batch.done) sum += now - batch.start;
  }
  return sum;
}

const ReplicaReport& BatchReplica::report() {
  report_.busy = busy_ / instances_;
  return report_;
}

/// Ends come first; what the batcher refused is handed out like an end.
void BatchReplica::set_event(SimTime now, EventQueue& events) {
  SimTime end = refused_.empty() ? kNever : now;
  for (const Running& batch : batches_) {
    if (!batch.done) end = std::min(end, batch.end);
  }
  const SimTime wake = batcher_.wakes_at(now);
  if (end == kNever && wake == kNever) {
    events.remove(slot_);
  } else if (end <= wake) {
    events.set(slot_, end, Phase::kStepEnd);
  } else {
    events.set(slot_, wake, Phase::kStepStart);
  }
}

// ---------------------------------------------------------------- requests come and go

void BatchReplica::enqueue(RequestId id, SimTime now, EventQueue& events) {
  ++report_.requests;
  SchedulerState& s = table_.state(id);
  s.tokens = s.prompt_tokens;
  s.standing = Standing::kWaiting;
  if (!batcher_.enqueue(id, s.priority, now)) refuse(id, Reason::kQueueFull);
  report_.waiting_max = std::max(report_.waiting_max, waiting());
  start_batches(now);
  set_event(now, events);
}

void BatchReplica::refuse(RequestId id, Reason reason) {
  RequestRecord& r = table_.record(id);
  r.outcome = Outcome::kRejected;
  r.reason = reason;
  table_.state(id).standing = Standing::kGone;
  refused_.push_back(id);
}

void BatchReplica::refuse_late() {
  for (const RequestId id : batcher_.rejected()) refuse(id, Reason::kQueueTimeout);
  batcher_.rejected().clear();
}

bool BatchReplica::abort(RequestId id, SimTime now, EventQueue& events) {
  if (!batcher_.remove(id)) return false;
  table_.state(id).standing = Standing::kGone;
  set_event(now, events);
  return true;
}

std::vector<RequestId> BatchReplica::give_up(EventQueue& events) {
  events.remove(slot_);
  std::vector<RequestId> held;
  for (const Running& batch : batches_) held.insert(held.end(), batch.requests.begin(), batch.requests.end());
  for (const RequestId id : batcher_.take_all()) held.push_back(id);
  for (const RequestId id : held) table_.state(id).standing = Standing::kGone;
  batches_.clear();
  active_ = running_ = 0;
  report_.stalled = true;
  return held;
}

// ---------------------------------------------------------------- batches

void BatchReplica::start_step(SimTime now, EventQueue& events) {
  batcher_.run(now);
  refuse_late();
  start_batches(now);
  set_event(now, events);
}

void BatchReplica::start_batches(SimTime now) {
  if (batcher_.started().empty()) return;
  for (std::vector<RequestId>& batch : batcher_.started()) start(batch, now);
  batcher_.started().clear();
  share_cores(now);
}

void BatchReplica::start(std::vector<RequestId>& requests, SimTime now) {
  Tokens longest = 0, tokens = 0;
  std::int64_t passes = passes_;
  for (const RequestId id : requests) {
    SchedulerState& s = table_.state(id);
    s.standing = Standing::kPrefilling;
    s.computed = s.prompt_tokens;
    table_.record(id).at.first_scheduled = now;
    longest = std::max(longest, s.prompt_tokens);
    tokens += s.prompt_tokens;
    if (passes_by_output_) passes = s.end_tokens - s.prompt_tokens;
  }
  const auto size = static_cast<std::int64_t>(requests.size());
  chunks_.assign(requests.size(), {longest, 0});
  const StepShape shape{
      .tokens = size * longest, .sampled = size, .decode_requests = 0, .decode_context = 0, .prefill = chunks_};
  const Seconds time = pool_.curve->step(shape) * static_cast<double>(passes);
  batches_.push_back({std::move(requests), now, later(now, to_sim_time(time)), time.value, now, false});
  ++active_;
  running_ += size;
  ++report_.steps;
  report_.extrapolated_steps += !pool_.curve->in_range(shape);
  report_.scheduled_tokens += tokens;
  report_.padded_tokens += shape.tokens - tokens;
  report_.running_steps += size;
  report_.running_max = std::max(report_.running_max, running_);
}

/// Sessions that run at once share the cores: when their number changes, so may the speed of each.
void BatchReplica::share_cores(SimTime now) {
  if (sessions_ == nullptr || active_ == 0) return;
  const double speed = session_speed(*sessions_, active_);
  for (Running& batch : batches_) {
    if (batch.done) continue;
    if (speed != speed_ && batch.since < now) {
      batch.left_s = std::max(0.0, batch.left_s - speed_ * to_seconds(now - batch.since).value);
      batch.since = now;
    }
    if (batch.since == now) batch.end = later(now, to_sim_time(Seconds(batch.left_s / speed)));
  }
  speed_ = speed;
}

// ---------------------------------------------------------------- ends

const std::vector<RequestId>& BatchReplica::end_step(SimTime now, EventQueue& events) {
  left_.clear();
  left_.swap(refused_);
  for (Running& batch : batches_) {
    if (batch.done || batch.end > now) continue;
    batch.done = true;
    --active_;
    busy_ += now - batch.start;
    batcher_.instance_freed(now);
  }
  release(now);
  share_cores(now);
  start_batches(now);
  set_event(now, events);
  return left_;
}

/// Hands out the answers of batches that are done; with preserve_ordering only those that no earlier batch holds back.
void BatchReplica::release(SimTime now) {
  for (std::size_t i = 0; i < batches_.size();) {
    if (batches_[i].done) {
      complete(batches_[i], now);
      batches_.erase(batches_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (preserve_ordering_) {
      return;
    } else {
      ++i;
    }
  }
}

void BatchReplica::complete(const Running& batch, SimTime now) {
  running_ -= static_cast<std::int64_t>(batch.requests.size());
  for (const RequestId id : batch.requests) {
    SchedulerState& s = table_.state(id);
    s.standing = Standing::kGone;
    RequestRecord& r = table_.record(id);
    if (r.outcome == Outcome::kCompleted) {
      s.tokens = s.end_tokens;
      r.at.first_token = r.at.last_token = now;
      // The steps of a job are equal, so the first of them ends after its share of the time.
      const std::int64_t steps = passes_by_output_ ? s.end_tokens - s.prompt_tokens : 1;
      r.at.first_token -= (now - r.at.first_scheduled) / steps * (steps - 1);
      ++report_.completed;
    }
    left_.push_back(id);
  }
}

}  // namespace poolcast
