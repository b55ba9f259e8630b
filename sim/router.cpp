// SPDX-License-Identifier: Apache-2.0
#include "sim/router.h"

#include <algorithm>

namespace poolcast {
namespace {

/// Where the engines of each pool begin, and one place more.
std::vector<std::uint32_t> pool_borders(const SimulationSpec& spec) {
  std::vector<std::uint32_t> borders = {0};
  for (const PoolSpec& pool : spec.pools)
    borders.push_back(borders.back() + static_cast<std::uint32_t>(pool.replicas * pool.ranks));
  return borders;
}

}  // namespace

Router::Router(const SimulationSpec& spec, const std::vector<std::unique_ptr<Replica>>& replicas, const Moves& moves)
    : spec_(spec),
      engines_(replicas),
      moves_(moves),
      pool_signals_(*this, pool_borders(spec)),
      gateway_(spec, pool_signals_, *this),
      stopped_(replicas.size(), false) {
  const std::vector<std::uint32_t> first = pool_borders(spec);
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    pools_.push_back(std::make_unique<PoolRouter>(spec, PoolId(p), replicas, first[p], now_));
    seen_ |= pools_.back()->seen() != nullptr;
  }
}

/// What is known of the pools at this instant.
void Router::look(SimTime now) {
  now_ = now;
  for (const auto& pool : pools_) {
    if (seen_ && pool->seen() != nullptr) pool->seen()->look(now);
  }
}

Router::Choice Router::choose_pool(const RequestRecord& request, SimTime now) {
  look(now);
  Choice choice;
  const Gateway::Choice gateway = gateway_.choose(request);
  choice.pool = gateway.pool;
  choice.refused = gateway.refused;
  if (spec_.log != nullptr) log_choice(request, {.model = request.model, .now = now}, gateway);
  if (choice.refused == Reason::kNone) follow_move(request, choice);
  return choice;
}

void Router::choose_replica(const RequestRecord& request, const Content& content, SimTime now, Choice& choice) {
  now_ = now;
  PoolRouter& pool = *pools_[choice.pool.value];
  const bool apart = spec_.pools[choice.pool.value].role == PoolRole::kDecode;
  if (apart && !pool.rules_on_prefill() && !choose_prefill(request, content, choice)) return;
  choice.replica = pool.choose(request, content);
  if (!choice.replica.valid()) {
    choice.refused = Reason::kSaturated;
  } else if (apart && pool.rules_on_prefill() && pool.prefills_elsewhere(request, choice.replica)) {
    choose_prefill(request, content, choice);
  }
}

/// Chooses who computes the prompt; false when no pool takes it.
bool Router::choose_prefill(const RequestRecord& request, const Content& content, Choice& choice) {
  const Gateway::Choice prefill = gateway_.choose_prefill(request);
  choice.prefill_pool = prefill.pool;
  choice.refused = prefill.refused;
  if (spec_.log != nullptr) log_choice(request, {.model = request.model, .prefill = true, .now = now_}, prefill);
  if (choice.refused != Reason::kNone) return false;
  choice.prefill_replica = pools_[prefill.pool.value]->choose(request, content);
  if (!choice.prefill_replica.valid()) choice.refused = Reason::kSaturated;
  return true;
}

/// A move may send the request on to another pool, if that one can take it.
void Router::follow_move(const RequestRecord& request, Choice& choice) {
  choice.turn = moves_.turn(request, choice.pool);
  if (choice.turn.move == UINT32_MAX) return;
  const PoolId to = moves_.destination(choice.turn);
  choice.turn.not_taken = gateway_.refusal(request, to);
  if (!choice.turn.chosen) return;
  if (choice.turn.not_taken == Reason::kNone) choice.turn.not_taken = gateway_.closed(to, now_);
  if (choice.turn.not_taken == Reason::kNone) choice.pool = to;
  log_turn(request, DecisionLog::Turn::Why::kMove, request.model, to, choice.turn.not_taken);
}

bool Router::stopped(PoolId pool) const {
  const std::vector<std::uint32_t> borders = pool_borders(spec_);
  const auto begin = stopped_.begin() + borders[pool.value], end = stopped_.begin() + borders[pool.value + 1];
  return std::all_of(begin, end, [](bool stopped) { return stopped; });
}

/// A queue before the pool takes what its replicas do not.
bool Router::has_room(PoolId pool) const {
  if (any_stopped_ && stopped(pool)) return false;
  return has_flow(pool) || pools_[pool.value]->has_room();
}

bool Router::has_flow(PoolId pool) const {
  const auto& pipeline = spec_.routing.pool[pool.value].pipeline;
  return pipeline && pipeline->flow;
}

bool Router::lets_go(PoolId pool, SimTime now) {
  now_ = now;
  return pools_[pool.value]->has_room() && !pools_[pool.value]->saturated();
}

SimTime Router::next_arrival(PoolId pool) const {
  const SeenSignals* seen = pools_[pool.value]->seen();
  return seen == nullptr ? kNever : seen->next_arrival(now_);
}

bool Router::any_instant(PoolId pool) const {
  const SeenSignals* seen = pools_[pool.value]->seen();
  return seen == nullptr || seen->any_instant();
}

void Router::added(PoolId pool, ReplicaId replica, RequestId id) {
  pools_[pool.value]->added(replica, id);
  gateway_.change_load(pool, +1);
}

void Router::answered(const RequestRecord& request, std::int64_t output, SimTime now) {
  now_ = now;
  pools_[request.pool.value]->answered(request, output);
}

void Router::removed(PoolId pool, ReplicaId replica, RequestId id) {
  pools_[pool.value]->removed(replica, id);
  gateway_.change_load(pool, -1);
}

void Router::tell_faults(std::vector<std::string>& notes) const {
  for (const auto& pool : pools_) pool->tell_faults(notes);
}

// ---------------------------------------------------------------- signals

std::int64_t Router::PoolSignals::waiting(std::uint32_t index) const {
  PoolRouter& pool = *router_.pools_[index];
  if (pool.seen() == nullptr) return truth_.waiting(index);
  std::int64_t sum = 0;
  for (std::uint32_t r = 0; r < pool.replicas(); ++r) sum += pool.seen()->waiting(r);
  return sum;
}

std::int64_t Router::PoolSignals::running(std::uint32_t index) const {
  PoolRouter& pool = *router_.pools_[index];
  if (pool.seen() == nullptr) return truth_.running(index);
  std::int64_t sum = 0;
  for (std::uint32_t r = 0; r < pool.replicas(); ++r) sum += pool.seen()->running(r);
  return sum;
}

double Router::PoolSignals::kv_usage(std::uint32_t index) const {
  PoolRouter& pool = *router_.pools_[index];
  if (pool.seen() == nullptr) return truth_.kv_usage(index);
  double sum = 0;
  for (std::uint32_t r = 0; r < pool.replicas(); ++r) sum += pool.seen()->kv_usage(r);
  return sum / static_cast<double>(pool.replicas());
}

}  // namespace poolcast
