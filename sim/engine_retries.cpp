// SPDX-License-Identifier: Apache-2.0
// What Engine does with requests that did not complete: the gateway sends them to a fallback, or their clients send
// them again.
#include "sim/engine.h"

#include <algorithm>

namespace poolcast {

/// Whether the contract and an implementation of the model take a request of this size.
bool Engine::fits(const RequestRecord& r, ModelId id) const {
  const Gates& gates = router_.gates();
  const std::int64_t length = r.prompt_tokens + r.output_target;
  if (id == r.model) return gates.outside_contract(r) == Reason::kNone && length <= gates.longest_context(r.cls);
  const ModelSpec& model = spec_.models[id.value];
  if (r.output_target > model.output_limit || r.prompt_tokens > model.input_limit) return false;
  if (length > model.context_limit) return false;
  return std::any_of(model.implementations.begin(), model.implementations.end(), [&](const ImplementationSpec& i) {
    return gates.refusal(r, i.pool, Via::kFallback) == Reason::kNone;
  });
}

/// The model of a request, or where it is too long for that the first of those that stand behind it.
ModelId Engine::serving_model(const RequestRecord& r) const {
  const auto& longer = router_.gateway().longer_models(r.model);
  if (longer.empty() || fits(r, r.model)) return r.model;
  for (const ModelId model : longer) {
    if (fits(r, model)) return model;
  }
  return r.model;
}

Router::Choice Engine::route(RequestId id, ModelId model, PoolId failed) {
  const RequestRecord& r = table_.record(id);
  if (!router_.gateway().has_rules()) return router_.choose_pool(r, now_);
  return router_.route_by_rules(r, table_.content(id), model, failed, now_);
}

/// A try has ended: what the gateway learns of it.
void Engine::tell_gateway(const RequestRecord& r) {
  if (!r.pool.valid() || !router_.gateway().has_rules()) return;
  router_.gateway().ended(r.pool, r.reason, now_);
  if (r.at.first_token != kNever) router_.gateway().charge(r, now_);
}

/// Whether a request whose try has ended has another.
bool Engine::sent_again(RequestId id) {
  const RequestRecord& r = table_.record(id);
  tell_gateway(r);
  if (r.outcome == Outcome::kCompleted) return false;
  return fall_back(id) || retry(id);
}

/// A request that failed on a pool goes to the next of its fallbacks at once, when they have been told of all that
/// happens at this instant. One whose time is up does not: its client has gone.
bool Engine::fall_back(RequestId id) {
  const RequestRecord& r = table_.record(id);
  constexpr ReasonSet kByThePool = {Reason::kStalled,       Reason::kQueueFull,   Reason::kQueueTimeout,
                                    Reason::kFlowQueueFull, Reason::kFlowExpired, Reason::kSaturated};
  if (!r.pool.valid() || !kByThePool.has(r.reason)) return false;
  const Gateway& gateway = router_.gateway();
  if (gateway.pools_after(r.pool).empty() && gateway.models_after(gateway.model_of(r.pool)).empty()) return false;
  set_aside(id, now_, r.pool);
  return true;
}

bool Engine::retry(RequestId id) {
  const RequestRecord& r = table_.record(id);
  const auto due = retries_.again(r, spec_.classes[r.cls.value].patience, now_);
  if (!due) return false;
  ++table_.record(id).retries;
  set_aside(id, *due, PoolId());
  return true;
}

/// The request leaves the table until it is due. Moves count the try as a request that failed.
void Engine::set_aside(RequestId id, SimTime due, PoolId failed) {
  const SchedulerState& s = table_.state(id);
  laws_.try_ended(s);
  retries_.lost(table_.record(id).cls, s.computed + s.dropped - s.cached);
  moves_.ended(id, table_.record(id));
  retries_.put(due, {table_.record(id), std::move(table_.content(id)), failed});
  table_.content(id) = {};
  table_.release(id);
  schedule_retries();
}

void Engine::send_again() {
  Retries::Waiting waiting = retries_.take();
  const RequestId id = table_.create();
  table_.content(id) = std::move(waiting.content);
  RequestRecord& r = table_.record(id);
  r = waiting.record;
  r.at = {};
  r.at.intended = waiting.record.at.intended;
  r.at.sent = waiting.record.at.sent;
  r.ended = kNever;
  r.pool = PoolId();
  r.replica = r.prefill_replica = ReplicaId();
  r.output_tokens = r.cached_tokens = r.ideal_tokens = 0;
  r.outcome = Outcome::kCompleted;
  if (!waiting.failed.valid()) r.reason = Reason::kNone;
  attempt(id, waiting.failed);
  schedule_retries();
}

void Engine::schedule_retries() {
  if (retries_.next() == kNever) {
    events_.remove(retry_slot());
  } else {
    events_.set(retry_slot(), retries_.next(), Phase::kRetry);
  }
}

}  // namespace poolcast
