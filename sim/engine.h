// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/client.h"
#include "sim/deadlines.h"
#include "sim/event_queue.h"
#include "sim/flow_queue.h"
#include "sim/ideal_cache.h"
#include "sim/laws.h"
#include "sim/meter.h"
#include "sim/moves.h"
#include "sim/network.h"
#include "sim/replica.h"
#include "sim/request_table.h"
#include "sim/retries.h"
#include "sim/router.h"
#include "sim/simulation.h"

namespace poolcast {

/// The state of one run. Event slots: replicas, then sources, then two deadline queues per class, then the networks,
/// then the moves of traffic, then the queues of flow control by pool, then what is sent again.
///
/// Where prefill and decode are apart, a request has a leg: a request of its own in the table, with one token to
/// produce, that computes the prompt on one replica. When it is done the request itself goes to the replica that
/// decodes, gets blocks there, and the KV moves.
class Engine {
 public:
  Engine(SimulationSpec spec, const std::vector<Observer*>& observers,
         const std::function<void(const Progress&)>& progress);

  Report run();

 private:
  void handle(const EventQueue::Event& event);
  void arrive(std::uint32_t source);
  void send(Arrival& arrival, SourceId source);
  void attempt(RequestId id, PoolId failed);
  bool fits(const RequestRecord& record, ModelId model) const;
  Reason fit_to_contract(RequestId id);
  void make_flows();
  bool place(RequestId id, Router::Choice& choice);
  /// A replica that is about to change.
  Replica& change(std::uint32_t replica) {
    if (watched_) note_change(replica);
    return *replicas_[replica];
  }
  void note_change(std::uint32_t replica);
  SimTime first_token_limit(ClassId cls) const;
  bool hold(RequestId id, PoolId pool);
  void dispatch(PoolId pool);
  void wake(PoolId pool);
  void schedule_flow(PoolId pool, SimTime at);
  bool only_waits() const;
  bool holds_requests(PoolId pool) const;
  void leave_flow(RequestId id, Outcome outcome, Reason reason);
  bool waits_in_flow(RequestId id) const;
  void add_deadlines(RequestId id);
  ModelId serving_model(const RequestRecord& record) const;
  Router::Choice route(RequestId id, ModelId model, PoolId failed);
  void tell_gateway(const RequestRecord& record);
  bool sent_again(RequestId id);
  bool fall_back(RequestId id);
  bool retry(RequestId id);
  void set_aside(RequestId id, SimTime due, PoolId failed);
  void send_again();
  void schedule_retries();
  void copy_to_mirrors(RequestId id);
  void copy_to_mirror(RequestId id, std::uint32_t mirror);
  void send_copy(RequestId id, std::uint32_t mirror, const Router::Choice& choice);
  bool is_copy(RequestId id) const { return id.value < mirror_of_.size() && mirror_of_[id.value] != UINT32_MAX; }
  void end_copy(RequestId id);
  void hand_out_prompt(RequestId id, const Router::Choice& choice);
  void prompt_left(RequestId leg);
  void drop_leg(RequestId leg);
  void start_transfers(std::uint32_t replica);
  void land_transfers();
  void schedule_network();
  void connect_hosts();
  void start_host_load(std::uint32_t replica, const StepPlan::Load& load);
  void land_host_loads();
  void drop_host_load(RequestId id);
  void schedule_host_network();
  RequestId partner(RequestId id) const { return id.value < partner_.size() ? partner_[id.value] : RequestId(); }
  std::int64_t output_tokens(RequestId id) const {
    const SchedulerState& s = table_.state(id);
    return table_.record(id).at.first_token == kNever ? 0 : s.tokens - s.prompt_tokens;
  }
  bool is_leg(RequestId id) const { return table_.state(id).hand_over; }
  void deadline(std::uint32_t queue);
  void miss_deadline(RequestId id, bool patience);
  void end_step(std::uint32_t replica);
  void leave(RequestId id);
  void end(RequestId id, Outcome outcome, Reason reason);
  void close(RequestId id);
  void refuse(RequestId id, Reason reason);
  void give_up(std::uint32_t replica);
  bool give_up_on_the_stuck();
  void schedule_source(std::uint32_t source);
  void schedule_deadline(std::uint32_t queue);
  void schedule_moves();
  void tell_progress();

  std::uint32_t source_slot(std::uint32_t source) const {
    return static_cast<std::uint32_t>(replicas_.size()) + source;
  }
  std::uint32_t deadline_slot(std::uint32_t queue) const {
    return static_cast<std::uint32_t>(replicas_.size() + clients_.size()) + queue;
  }
  std::uint32_t network_slot() const { return deadline_slot(static_cast<std::uint32_t>(deadlines_.size())); }
  std::uint32_t host_slot() const { return network_slot() + 1; }
  std::uint32_t move_slot() const { return host_slot() + 1; }
  std::uint32_t flow_slot(PoolId pool) const { return move_slot() + 1 + pool.value; }
  std::uint32_t retry_slot() const { return flow_slot(PoolId(spec_.pools.size())); }
  Report report();

  SimulationSpec spec_;
  const std::vector<Observer*>& observers_;
  const std::function<void(const Progress&)>& progress_;
  RequestTable table_;
  Meter meter_;
  Laws laws_;
  std::vector<std::vector<Histogram*>> gaps_;  ///< by PoolId
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<Client> clients_;
  std::vector<Deadlines> deadlines_;  ///< 2 * ClassId: time-out; + 1: patience
  EventQueue events_;
  Moves moves_;
  Router router_;
  SimTime now_ = 0;
  SimTime worked_until_ = 0;     ///< the last instant at which something happened
  SimTime settled_ = -1;         ///< the last instant of which all steps that end there have ended
  SimTime last_start_ = kNever;  ///< the last instant at which a step started
  struct Flow {
    std::optional<FlowQueue> queue;  ///< none: the pool has no flow control
    bool by_steps = false;           ///< a step can make a request go that waits
    SimTime due = kNever;            ///< of its event
  };
  std::vector<Flow> flows_;      ///< by PoolId; empty: no pool has flow control
  std::vector<PoolId> pool_of_;  ///< by ReplicaId, where `watched_`
  bool watched_ = false;         ///< somebody wants to know before a replica changes
  std::uint64_t events_handled_ = 0;
  std::uint64_t truncated_ = 0;
  Network network_;
  std::vector<Path> paths_;         ///< [prefill pool * pools + decode pool]
  std::vector<RequestId> partner_;  ///< a request whose prompt is computed elsewhere, and the leg that computes it
  SimTime transfer_time_ = 0;
  Topology host_links_;  ///< one link for each replica that keeps KV on its host
  Network host_network_;
  std::vector<Path> host_paths_;  ///< by ReplicaId
  SimTime host_load_time_ = 0;
  std::int64_t prefix_tokens_ = 0, ideal_hits_ = 0;
  std::vector<IdealCache> ideal_;  ///< by ModelId: models share no cache
  Retries retries_;
  bool sends_again_ = false;  ///< some class retries, or the gateway has rules
  std::uint64_t tries_ = 0;
  std::vector<std::uint32_t> mirror_of_;  ///< by RequestId: of a copy, the mirror it belongs to
  std::vector<MirrorReport> mirrors_;     ///< by the order of the rules
};

}  // namespace poolcast
