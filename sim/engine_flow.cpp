// SPDX-License-Identifier: Apache-2.0
// What Engine does with requests that wait at the gateway, in the flow control of a pool, and with what routers know of
// replicas late.
#include <algorithm>

#include "sim/engine.h"
#include "sim/routing/pipeline.h"

namespace poolcast {

void Engine::make_flows() {
  for (std::size_t p = 0; p < spec_.pools.size(); ++p) {
    const PolicySpec& policy = spec_.routing.pool[p];
    watched_ |= policy.pipeline || !policy.signals.instant();
    if (!policy.pipeline || !policy.pipeline->flow) continue;
    flows_.resize(spec_.pools.size());
    flows_[p].queue.emplace(*policy.pipeline->flow);
    flows_[p].by_steps = router_.any_instant(PoolId(p)) || spec_.pools[p].max_pending_requests != INT64_MAX;
  }
  for (std::size_t p = 0; watched_ && p < spec_.pools.size(); ++p) {
    const auto engines = static_cast<std::size_t>(spec_.pools[p].replicas * spec_.pools[p].ranks);
    pool_of_.insert(pool_of_.end(), engines, PoolId(p));
  }
}

/// A replica is about to change: its router learns first what it still is, and a queue before its pool looks again
/// afterwards.
void Engine::note_change(std::uint32_t replica) {
  const PoolId pool = pool_of_[replica];
  router_.before_change(pool, ReplicaId(replica), settled_, now_);
  if (!flows_.empty() && flows_[pool.value].by_steps) wake(pool);
}

/// The first TTFT objective of a class, as a time from sending.
SimTime Engine::first_token_limit(ClassId cls) const {
  SimTime limit = kNever;
  for (const Objective& objective : spec_.classes[cls.value].objectives) {
    if (objective.metric == Metric::kTtft) limit = std::min(limit, objective.limit);
  }
  return limit;
}

/// Puts a request before its pool; false when there is no room.
bool Engine::hold(RequestId id, PoolId pool) {
  RequestRecord& r = table_.record(id);
  r.pool = pool;
  FlowQueue::Item item{.id = id};
  item.priority = r.priority == INT32_MIN ? INT32_MAX : -r.priority;
  item.flow = r.source.value;
  item.bytes = r.prompt_tokens * FlowControlSpec::kBytesPerToken;
  item.timeout = later(now_, spec_.classes[r.cls.value].timeout);
  item.objective = later(now_, first_token_limit(r.cls));
  if (!flows_[pool.value].queue->push(item, now_)) return false;
  router_.held(pool, +1);
  wake(pool);
  return true;
}

bool Engine::waits_in_flow(RequestId id) const {
  const PoolId pool = table_.record(id).pool;
  return !flows_.empty() && pool.valid() && flows_[pool.value].queue && flows_[pool.value].queue->holds(id);
}

/// Lets requests go while the pool is not saturated, then ends those whose time is over.
void Engine::dispatch(PoolId pool) {
  FlowQueue& queue = *flows_[pool.value].queue;
  while (!queue.empty() && router_.lets_go(pool, now_)) {
    const RequestId id = queue.take(now_);
    router_.held(pool, -1);
    Router::Choice choice;
    choice.pool = pool;
    if (!place(id, choice)) refuse(id, choice.refused);
  }
  while (queue.next_expiry() <= now_) {
    const RequestId id = queue.expire();
    router_.held(pool, -1);
    refuse(id, Reason::kFlowExpired);
  }
  if (queue.empty()) return schedule_flow(pool, kNever);
  schedule_flow(pool, std::min(queue.next_expiry(), router_.next_arrival(pool)));
}

/// Something may let a request go that waits. Where steps have started at this instant they are seen as a whole, so the
/// next nanosecond is the first at which anybody looks.
void Engine::wake(PoolId pool) {
  if (flows_.empty() || !flows_[pool.value].queue || flows_[pool.value].queue->empty()) return;
  const SimTime at = last_start_ == now_ ? now_ + 1 : now_;
  if (at < flows_[pool.value].due) schedule_flow(pool, at);
}

void Engine::schedule_flow(PoolId pool, SimTime at) {
  flows_[pool.value].due = at;
  if (at == kNever) {
    events_.remove(flow_slot(pool));
  } else {
    events_.set(flow_slot(pool), at, Phase::kDispatch);
  }
}

/// A request that waits here is given up.
void Engine::leave_flow(RequestId id, Outcome outcome, Reason reason) {
  const PoolId pool = table_.record(id).pool;
  flows_[pool.value].queue->remove(id);
  router_.held(pool, -1);
  end(id, outcome, reason);
}

/// Whether every pending event only waits for others: a move of no traffic, and a queue without a time to live before a
/// pool of which no replica has anything to do.
bool Engine::only_waits() const {
  std::size_t waits = events_.pending(move_slot());
  for (std::size_t p = 0; p < flows_.size(); ++p) {
    const bool endless = spec_.routing.pool[p].pipeline && spec_.routing.pool[p].pipeline->flow &&
                         spec_.routing.pool[p].pipeline->flow->ttl == kNever;
    waits += endless && events_.pending(flow_slot(PoolId(p))) && holds_requests(PoolId(p));
  }
  return events_.size() == waits;
}

bool Engine::holds_requests(PoolId pool) const {
  for (std::size_t e = 0; e < replicas_.size(); ++e) {
    if (pool_of_[e] == pool && replicas_[e]->running() + replicas_[e]->waiting() > 0) return true;
  }
  return false;
}

}  // namespace poolcast
