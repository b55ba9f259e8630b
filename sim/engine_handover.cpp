// SPDX-License-Identifier: Apache-2.0
// What Engine does where prefill and decode are apart: legs, and the KV that moves.
#include <algorithm>

#include "sim/engine.h"

namespace poolcast {

void Engine::hand_out_prompt(RequestId id, const Router::Choice& choice) {
  const RequestId leg = table_.create();
  partner_.resize(std::max<std::size_t>(partner_.size(), std::max(id.value, leg.value) + 1));
  partner_[id.value] = leg;
  partner_[leg.value] = id;
  table_.record(id).prefill_replica = choice.prefill_replica;
  RequestRecord& r = table_.record(leg);
  r = table_.record(id);
  r.pool = choice.prefill_pool;
  r.replica = choice.prefill_replica;
  SchedulerState& s = table_.state(leg);
  s = table_.state(id);
  s.end_tokens = s.prompt_tokens + 1;
  s.hand_over = true;
  s.group = static_cast<std::uint16_t>(spec_.classes.size());
  table_.state(id).remote = static_cast<std::int32_t>(s.prompt_tokens);
  table_.content(leg) = table_.content(id);
  router_.added(r.pool, r.replica, leg);
  change(r.replica.value).enqueue(leg, now_, events_);
}

/// The leg of a request has left its replica: with its prompt done, unless the request was given up meanwhile.
void Engine::prompt_left(RequestId leg) {
  const RequestId id = partner(leg);
  const RequestRecord& prompt = table_.record(leg);
  RequestRecord& r = table_.record(id);
  router_.removed(prompt.pool, prompt.replica, leg);
  r.at.first_scheduled = prompt.at.first_scheduled;
  r.cached_tokens = prompt.cached_tokens;
  const bool done = table_.state(leg).standing == Standing::kHanded;
  if (r.outcome != Outcome::kCompleted) {
    if (!done) drop_leg(leg);  // `leave` lets go of the blocks of a prompt that is done
    return leave(id);
  }
  r.at.prefilled = now_;
  change(r.replica.value).enqueue(id, now_, events_);
}

void Engine::drop_leg(RequestId leg) {
  const RequestId id = partner(leg);
  partner_[id.value] = partner_[leg.value] = RequestId();
  SchedulerState& s = table_.state(id);
  const SchedulerState& prompt = table_.state(leg);
  laws_.prompt_handed_over(prompt);
  s.preemptions += prompt.preemptions;
  s.recomputed += prompt.recomputed;
  table_.release(leg);
}

void Engine::start_transfers(std::uint32_t replica) {
  bool any = false;
  for (const StepPlan::Load& load : replicas_[replica]->loads()) {
    if (load.from_host) {
      start_host_load(replica, load);
      continue;
    }
    const RequestRecord& r = table_.record(load.id);
    const PoolId from = table_.record(partner(load.id)).pool;
    const double bytes = static_cast<double>(load.tokens) * spec_.pools[from.value].kv_bytes_per_token;
    network_.start(load.id.value, paths_[from.value * spec_.pools.size() + r.pool.value], bytes, now_);
    transfer_time_ -= now_;
    any = true;
  }
  if (any) schedule_network();
}

void Engine::land_transfers() {
  for (const std::uint64_t slot : network_.arrived(now_)) {
    const RequestId id(static_cast<std::uint32_t>(slot));
    RequestRecord& r = table_.record(id);
    r.at.transferred = now_;
    transfer_time_ += now_;
    const RequestId leg = partner(id);
    change(r.prefill_replica.value).release_handed(leg, now_, events_);
    drop_leg(leg);
    change(r.replica.value).loaded(id, now_, events_);
  }
  schedule_network();
}

void Engine::schedule_network() {
  const SimTime next = network_.next();
  if (next == kNever) {
    events_.remove(network_slot());
  } else {
    events_.set(network_slot(), next, Phase::kTransfer);
  }
}

}  // namespace poolcast
