// SPDX-License-Identifier: Apache-2.0
// What Router does where the gateway has rules: a request that one pool does not take goes to the next.
#include "sim/router.h"

namespace poolcast {

Router::Choice Router::route_by_rules(const RequestRecord& request, const Content& content, ModelId model,
                                      PoolId failed, SimTime now) {
  look(now);
  return find_way({request, content}, model, failed);
}

Router::Choice Router::find_way(const Asked& asked, ModelId model, PoolId failed) {
  using Kind = FallbackReport::Kind;
  const RequestRecord& request = asked.request;
  Choice choice;
  if (failed.valid()) {
    choice.refused = request.reason;
    log_turn(request, DecisionLog::Turn::Why::kRefusal, gateway_.model_of(failed), failed, request.reason);
    if (try_fallbacks(asked, failed, choice)) return choice;
    model = gateway_.model_of(failed);
  } else {
    const Quotas::Verdict quota = gateway_.arrived(request, now_);
    const bool to_fallback = quota.beyond && quota.what == QuotaSpec::Beyond::kFallback;
    choice.refused = Reason::kQuota;
    if (quota.beyond) log_turn(request, DecisionLog::Turn::Why::kQuota, model, PoolId(), choice.refused);
    if (quota.beyond && quota.what == QuotaSpec::Beyond::kReject) return choice;
    if (!to_fallback && try_model(asked, model, quota.beyond, choice)) {
      if (model != request.model) gateway_.fell_back(Kind::kContextWindow, request.model.value, choice.pool);
      return choice;
    }
    if (quota.beyond) choice.refused = Reason::kQuota;
  }
  for (const ModelId next : gateway_.models_after(model)) {
    Choice other;
    if (!try_model(asked, next, false, other)) continue;
    gateway_.fell_back(Kind::kModel, model.value, other.pool);
    other.turn = choice.turn;
    return other;
  }
  return choice;
}

/// A pool of this model by the gateway's choice, else one of its fallbacks. Where none takes the request, `choice`
/// tells why the first one did not.
bool Router::try_model(const Asked& asked, ModelId model, bool first_tier_closed, Choice& choice) {
  const Gateway::Choice chosen = gateway_.choose(asked.request, model, first_tier_closed, now_);
  choice.pool = chosen.pool;
  choice.refused = chosen.refused;
  if (spec_.log != nullptr) {
    log_choice(asked.request, gateway_.ruled_filter(asked.request, model, first_tier_closed, now_), chosen);
  }
  if (chosen.refused != Reason::kNone) return false;
  if (model == asked.request.model) follow_move(asked.request, choice);
  const PoolId first = choice.pool;
  if (try_pool(asked, first, choice)) return true;
  log_turn(asked.request, DecisionLog::Turn::Why::kRefusal, model, first, choice.refused);
  return try_fallbacks(asked, first, choice);
}

bool Router::try_fallbacks(const Asked& asked, PoolId after, Choice& choice) {
  for (const PoolId next : gateway_.pools_after(after)) {
    Choice other;
    other.turn = choice.turn;
    other.refused = gateway_.refusal(asked.request, next, Via::kFallback);
    const bool taken = other.refused == Reason::kNone && try_pool(asked, next, other);
    log_turn(asked.request, DecisionLog::Turn::Why::kFallback, gateway_.model_of(next), next, other.refused);
    if (!taken) continue;
    choice = other;
    gateway_.fell_back(FallbackReport::Kind::kPool, after.value, next);
    return true;
  }
  return false;
}

/// A pool that rests is not asked, so it does not fail. One with flow control takes the request into its queue.
bool Router::try_pool(const Asked& asked, PoolId pool, Choice& choice) {
  choice.pool = pool;
  choice.refused = gateway_.closed(pool, now_);
  if (choice.refused == Reason::kNone && !has_flow(pool)) choose_replica(asked.request, asked.content, now_, choice);
  if (choice.refused == Reason::kNone) return true;
  if (choice.refused == Reason::kQueueFull || choice.refused == Reason::kSaturated) {
    gateway_.ended(pool, choice.refused, now_);
  }
  return false;
}

Router::Choice Router::route_copy(const RequestRecord& request, const Content& content, PoolId pool, SimTime now) {
  look(now);
  Choice choice;
  choice.pool = pool;
  choice.refused = gateway_.refusal(request, pool, Via::kMirror);
  if (choice.refused == Reason::kNone && !has_room(pool)) choice.refused = Reason::kQueueFull;
  if (choice.refused == Reason::kNone) choose_replica(request, content, now, choice);
  if (spec_.log != nullptr) log_copy(request, choice);
  return choice;
}

}  // namespace poolcast
