// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

std::vector<std::vector<Histogram*>> gap_tables(const SimulationSpec& spec, Meter& meter) {
  std::vector<std::vector<Histogram*>> tables;
  for (std::size_t p = 0; p < spec.pools.size(); ++p) tables.push_back(meter.gaps_of_pool(PoolId(p)));
  return tables;
}

std::vector<std::unique_ptr<Replica>> make_replicas(const SimulationSpec& spec, RequestTable& table,
                                                    const std::vector<std::vector<Histogram*>>& gaps) {
  std::vector<std::unique_ptr<Replica>> replicas;
  std::size_t total = 0;
  for (const PoolSpec& pool : spec.pools) total += static_cast<std::size_t>(pool.replicas * pool.ranks);
  replicas.reserve(total);
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    for (std::int32_t r = 0; r < spec.pools[p].replicas * spec.pools[p].ranks; ++r) {
      const auto slot = static_cast<std::uint32_t>(replicas.size());
      replicas.push_back(make_replica(slot, PoolId(p), spec.pools[p], spec.stepwise, table, gaps[p], spec.seed));
    }
  }
  return replicas;
}

}  // namespace

Engine::Engine(SimulationSpec spec, const std::vector<Observer*>& observers,
               const std::function<void(const Progress&)>& progress)
    : spec_(std::move(spec)),
      observers_(observers),
      progress_(progress),
      meter_(spec_),
      gaps_(gap_tables(spec_, meter_)),
      replicas_(make_replicas(spec_, table_, gaps_)),
      clients_(spec_.sources.begin(), spec_.sources.end()),
      events_(replicas_.size() + clients_.size() + 2 * spec_.classes.size() + 4 + spec_.pools.size()),
      moves_(spec_, table_),
      router_(spec_, replicas_, moves_),
      network_(spec_.topology),
      host_network_(host_links_),
      ideal_(spec_.models.size()),
      retries_(spec_),
      sends_again_(retries_.any() || router_.gateway().has_rules()),
      mirrors_(spec_.routing.rules.mirrors.size()) {
  for (const ClassSpec& cls : spec_.classes) {
    deadlines_.emplace_back(cls.timeout, table_);
    deadlines_.emplace_back(cls.patience, table_);
  }
  for (const PoolSpec& from : spec_.pools) {
    for (const PoolSpec& to : spec_.pools) {
      const bool apart = from.role == PoolRole::kPrefill && to.role == PoolRole::kDecode;
      paths_.push_back(apart ? spec_.topology.path(from.node, to.node) : Path{});
    }
  }
  for (const auto& replica : replicas_) replica->watch(spec_.log);
  connect_hosts();
  make_flows();
  for (std::uint32_t s = 0; s < clients_.size(); ++s) schedule_source(s);
  schedule_moves();
}

/// The main loop. Every source of events owns one slot of the queue, and an event says which slot is due, when, and in
/// which phase of that instant. Handling it changes replicas, requests and the events of other slots. The run is over
/// when nothing is due any more but what only waits for others (a move of no traffic, a queue before a pool that is
/// stuck) and no replica holds a request that it can never serve.
Report Engine::run() {
  do {
    while (!events_.empty() && (events_.size() > 1 + flows_.size() || !only_waits())) {
      const EventQueue::Event event = events_.top();
      events_.handles(event);
      now_ = event.time;
      if (now_ == kNever) throw std::range_error(kClockEnds);
      settled_ = event.phase == Phase::kStepEnd ? std::max(settled_, now_ - 1) : now_;
      // A deadline that nobody misses any more does not make the run longer.
      if (event.phase != Phase::kDeadline) worked_until_ = now_;
      handle(event);
      if ((++events_handled_ & 0x3ffff) == 0) tell_progress();
    }
  } while (give_up_on_the_stuck());
  return report();
}

void Engine::handle(const EventQueue::Event& event) {
  switch (event.phase) {
    case Phase::kStepEnd:
      return end_step(event.slot);
    case Phase::kDeadline:
      return deadline(event.slot - deadline_slot(0));
    case Phase::kTransfer:
      return event.slot == host_slot() ? land_host_loads() : land_transfers();
    case Phase::kDispatch:
      return dispatch(PoolId(event.slot - flow_slot(PoolId(0u))));
    case Phase::kArrival:
      return arrive(event.slot - source_slot(0));
    case Phase::kMove:
      moves_.decide(now_);
      return schedule_moves();
    case Phase::kRetry:
      return send_again();
    case Phase::kStepStart:
      last_start_ = now_;
      change(event.slot).start_step(now_, events_);
      if (!replicas_[event.slot]->loads().empty()) start_transfers(event.slot);
      return;
  }
}

// ---------------------------------------------------------------- arrivals

void Engine::arrive(std::uint32_t source) {
  Arrival arrival;
  const Client::Taken taken = clients_[source].take(arrival);
  if (taken != Client::Taken::kReleased) meter_.arrived(now_);
  if (taken != Client::Taken::kHeld) send(arrival, SourceId(source));
  schedule_source(source);
}

void Engine::send(Arrival& arrival, SourceId source) {
  const RequestId id = table_.create();
  std::swap(table_.content(id), arrival.content);
  RequestRecord& r = table_.record(id);
  r.at.intended = arrival.intended;
  r.at.sent = now_;
  r.source = source;
  r.row = arrival.row;
  r.session = arrival.session;
  r.cls = arrival.cls;
  r.model = spec_.classes[arrival.cls.value].model;
  r.prompt_tokens = arrival.prompt_tokens;
  r.output_target = arrival.output_tokens;
  r.priority = arrival.priority;
  meter_.sent(r);
  clients_[source.value].sent();
  if (sends_again_) retries_.sent(r.cls, now_);
  attempt(id, PoolId());
}

/// A request goes to the gateway, and to the replica that it names. `failed`: of the rest of its fallbacks, after it
/// failed on that pool.
void Engine::attempt(RequestId id, PoolId failed) {
  RequestRecord& r = table_.record(id);
  ++tries_;
  const ModelId model = sends_again_ ? serving_model(r) : r.model;
  if (const Reason outside = model == r.model ? fit_to_contract(id) : Reason::kNone; outside != Reason::kNone) {
    return refuse(id, outside);
  }
  Router::Choice choice = sends_again_ ? route(id, model, failed) : router_.choose_pool(r, now_);
  if (choice.turn.move != UINT32_MAX) moves_.sent(id, choice.turn);
  if (choice.refused != Reason::kNone) return refuse(id, choice.refused);
  SchedulerState& s = table_.state(id);
  s.prompt_tokens = r.prompt_tokens;
  s.end_tokens = r.prompt_tokens + r.output_target;
  s.priority = r.priority;
  s.rank = tries_;
  s.group = static_cast<std::uint16_t>(r.measured ? r.cls.value : spec_.classes.size());
  if (!flows_.empty() && flows_[choice.pool.value].queue) {
    if (!hold(id, choice.pool)) return refuse(id, Reason::kFlowQueueFull);
  } else if (!place(id, choice)) {
    return refuse(id, choice.refused);
  }
  add_deadlines(id);
  if (!mirrors_.empty() && !failed.valid()) copy_to_mirrors(id);
}

/// Gives a request to a replica of the pool that was chosen; false, with the reason in `choice`, when none takes it.
bool Engine::place(RequestId id, Router::Choice& choice) {
  if (!choice.replica.valid()) router_.choose_replica(table_.record(id), table_.content(id), now_, choice);
  if (choice.refused != Reason::kNone) return false;
  RequestRecord& r = table_.record(id);
  r.pool = choice.pool;
  r.replica = choice.replica;
  r.at.routed = r.at.queued = now_;
  table_.state(id).arrival = now_;
  if (clients_[r.source.value].source().has_prefix_data()) {
    IdealCache& ideal = ideal_[router_.gateway().model_of(choice.pool).value];
    r.ideal_tokens = ideal.request(table_.content(id), r.prompt_tokens, r.output_target);
  }
  router_.added(choice.pool, choice.replica, id);
  if (choice.prefill_replica.valid()) {
    hand_out_prompt(id, choice);
  } else {
    change(choice.replica.value).enqueue(id, now_, events_);
  }
  return true;
}

/// Cuts a request to its contract, and to what any implementation takes, where that is allowed; else why it cannot be.
Reason Engine::fit_to_contract(RequestId id) {
  RequestRecord& r = table_.record(id);
  const ModelSpec& model = spec_.models[r.model.value];
  const Reason outside = router_.gates().outside_contract(r);
  if (model.on_too_long == TooLong::kReject) return outside;
  const std::int64_t context = router_.gates().longest_context(r.cls);
  if (outside == Reason::kNone && r.prompt_tokens + r.output_target <= context) return Reason::kNone;
  if (context < 2) return Reason::kContextLimit;
  ++truncated_;
  r.prompt_tokens = std::min({r.prompt_tokens, model.input_limit, context - 1});
  table_.content(id).output = 0;  // nobody will quote it as it stands
  r.output_target = std::min({r.output_target, model.output_limit, context - r.prompt_tokens});
  return Reason::kNone;
}

void Engine::schedule_source(std::uint32_t source) {
  const SimTime next = clients_[source].next(now_);
  if (next == kNever) {
    events_.remove(source_slot(source));
  } else {
    events_.set(source_slot(source), next, Phase::kArrival);
  }
}

void Engine::schedule_moves() {
  if (moves_.next() == kNever) {
    events_.remove(move_slot());
  } else {
    events_.set(move_slot(), moves_.next(), Phase::kMove);
  }
}

// ---------------------------------------------------------------- ends

void Engine::end_step(std::uint32_t replica) {
  Replica& r = change(replica);
  for (const RequestId id : r.end_step(now_, events_)) {
    if (is_leg(id)) {
      prompt_left(id);
    } else {
      leave(id);
    }
  }
  if (!r.loads().empty()) start_transfers(replica);  // of the next step, where it is planned already
  if (r.barren_preemptions() >= spec_.stall_preemptions) give_up(replica);
}

/// A request leaves its replica with the outcome that its record has by now.
void Engine::leave(RequestId id) {
  const RequestRecord& r = table_.record(id);
  router_.removed(r.pool, r.replica, id);
  router_.answered(r, output_tokens(id), now_);
  wake(r.pool);
  if (const RequestId leg = partner(id); leg.valid()) {  // its prompt still lies where it was computed
    if (network_.cancel(id.value, now_)) transfer_time_ += now_;
    schedule_network();
    change(r.prefill_replica.value).release_handed(leg, now_, events_);
    drop_leg(leg);
  }
  if (r.outcome != Outcome::kCompleted) drop_host_load(id);
  end(id, r.outcome, r.reason);
}

/// No pool takes the request: for its own reason, or that for which it failed on the last one.
void Engine::refuse(RequestId id, Reason reason) {
  end(id, reason == Reason::kStalled ? Outcome::kFailed : Outcome::kRejected, reason);
}

void Engine::end(RequestId id, Outcome outcome, Reason reason) {
  RequestRecord& r = table_.record(id);
  const SchedulerState& s = table_.state(id);
  r.outcome = outcome;
  r.reason = reason;
  r.ended = worked_until_ = now_;
  r.output_tokens = output_tokens(id);
  r.preemptions += s.preemptions;
  r.recomputed_tokens += s.recomputed;
  if (is_copy(id)) return end_copy(id);
  if (r.at.first_scheduled != kNever && clients_[r.source.value].source().has_prefix_data()) {
    prefix_tokens_ += r.prompt_tokens;
    ideal_hits_ += r.ideal_tokens;
  }
  if (sends_again_ && sent_again(id)) return;
  close(id);
}

/// A request has ended for good.
void Engine::close(RequestId id) {
  RequestRecord& r = table_.record(id);
  laws_.request_ended(r, table_.state(id));
  meter_.ended(r);
  moves_.ended(id, r);
  for (Observer* observer : observers_) observer->request_ended(r);
  Client& client = clients_[r.source.value];
  client.ended();
  if (client.source().wants_feedback()) client.source().finished(r);
  if (client.reacts()) schedule_source(r.source.value);
  table_.release(id);
}

void Engine::give_up(std::uint32_t replica) {
  router_.stopped(ReplicaId(replica));
  for (const RequestId held : change(replica).give_up(events_)) {
    const RequestId id = is_leg(held) ? partner(held) : held;
    RequestRecord& r = table_.record(id);
    if (r.outcome == Outcome::kCompleted) {
      r.outcome = Outcome::kFailed;
      r.reason = Reason::kStalled;
    }
    if (is_leg(held)) {
      prompt_left(held);
    } else {
      leave(id);
    }
  }
}

/// Nothing is due, but requests may still wait on replicas that can schedule nothing.
bool Engine::give_up_on_the_stuck() {
  bool any = false;
  for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
    if (replicas_[r]->running() + replicas_[r]->waiting() == 0) continue;
    any = true;
    give_up(r);
  }
  return any;
}

// ---------------------------------------------------------------- telling

void Engine::tell_progress() {
  if (!progress_) return;
  Progress p{now_, meter_.offered(), meter_.ended_count(), -1};
  for (Client& client : clients_) p.share = std::max(p.share, client.source().progress());
  progress_(p);
}

Report Engine::report() {
  Report report = meter_.take(worked_until_);
  report.truncated_requests = truncated_;
  report.events = events_handled_;
  for (const SourceSpec& s : spec_.sources) {
    report.skipped_rows += s.source->skipped_rows();
    report.unsent_requests += s.source->unsent();
  }
  for (const auto& replica : replicas_) {
    const ReplicaReport& r = replica->report();
    report.replicas.push_back(r);
    report.steps += r.steps;
    report.leaps += r.leaps;
    laws_.replica_ended(r, replica->free_blocks(), replica->running() + replica->waiting());
  }
  report.transfers = static_cast<std::uint64_t>(network_.transfers());
  report.transferred_bytes = network_.bytes();
  report.transfer_time = transfer_time_;
  report.host_loads = static_cast<std::uint64_t>(host_network_.transfers());
  report.host_loaded_bytes = host_network_.bytes();
  report.host_load_time = host_load_time_;
  report.prefix_tokens = prefix_tokens_;
  report.ideal_prefix_hits = ideal_hits_;
  report.moves = moves_.take(now_);
  report.gates = router_.gates().report();
  router_.tell_faults(report.notes);
  for (const Flow& flow : flows_) report.flows.push_back(flow.queue ? flow.queue->report() : FlowReport());
  report.gateway = router_.gateway().report(now_);
  report.gateway.mirrors = mirrors_;
  if (retries_.any()) report.gateway.retries = retries_.report();
  laws_.run_ended(report, meter_.offered());
  return report;
}

Report simulate(SimulationSpec spec, const std::vector<Observer*>& observers,
                const std::function<void(const Progress&)>& progress) {
  return Engine(std::move(spec), observers, progress).run();
}

}  // namespace poolcast
