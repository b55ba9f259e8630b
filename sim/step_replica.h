// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/decision_log.h"
#include "sim/message_meter.h"
#include "sim/replica.h"
#include "sim/schedulers/scheduler.h"
#include "sim/step_executor.h"

namespace poolcast {

/// An engine that advances in steps: its scheduler decides what a step holds, its pool's curve says how long it takes.
///
/// A leap is a run of decode-only steps of one composition; its step ends are computed from the start of the
/// composition by one expression (`step_end`), so that it does not matter where the run is cut into leaps: single steps
/// give the same instants to the last nanosecond.
class StepReplica final : public Replica {
 public:
  StepReplica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, bool stepwise, RequestTable& table,
              const std::vector<Histogram*>& gaps, std::uint64_t seed);

  void enqueue(RequestId id, SimTime now, EventQueue& events) override;
  bool abort(RequestId id, SimTime now, EventQueue& events) override;
  void start_step(SimTime now, EventQueue& events) override;
  const std::vector<RequestId>& end_step(SimTime now, EventQueue& events) override;
  std::vector<RequestId> give_up(EventQueue& events) override;
  std::span<const StepPlan::Load> loads() const override {
    return fresh_ ? plan_->loads : std::span<const StepPlan::Load>();
  }
  void loaded(RequestId id, SimTime now, EventQueue& events) override;
  void release_handed(RequestId id, SimTime now, EventQueue& events) override;

  std::int64_t waiting() const override { return scheduler_->waiting(); }
  std::int64_t running() const override { return scheduler_->running(); }
  KvReading read_kv(SimTime now) const override;
  SimTime busy(SimTime now) const override { return report_.busy + (steps_in_flight_ > 0 ? now - step_start_ : 0); }
  bool full() const override;
  KvEvents* tell_cache() override;
  void publish_cache(SimTime now) override;
  std::int64_t barren_preemptions() const override { return barren_preemptions_; }
  const ReplicaReport& report() override;
  std::int64_t free_blocks() const override { return scheduler_->free_blocks(); }
  void watch(DecisionLog* log) override { log_ = log; }

 private:
  /// A stretch of decode-only steps of the same requests on one line of the curve.
  struct Composition {
    bool active = false;
    SimTime start = 0;
    std::int64_t steps = 0;   ///< ended so far
    double first_s = 0;       ///< duration of its first step
    double growth_s = 0;      ///< by which each step is longer than the one before
    double first_work_s = 0;  ///< pipeline: the same two figures for the work of an average stage
    double growth_work_s = 0;
    Tokens last_context = 0;
    std::uint64_t version = 0;
    Padding padding;
  };

  SimTime step_end(std::int64_t step) const;  ///< end of step `step` of the composition, from 1
  SimTime step_gap(std::int64_t step) const;  ///< duration of that step
  SimTime work_end(std::int64_t step) const;  ///< work of an average stage in the first `step` steps of the composition
  std::int64_t begun_by(SimTime now, bool planned) const;
  void publish_steps(std::int64_t ended);
  void publish_last(std::int64_t steps, SimTime now);
  static StepShape shape_of(const StepPlan& plan);
  DecodeLine decode_line(const StepPlan& plan) const;
  void plan_step();
  void launch(SimTime now, EventQueue& events);
  Seconds step_time(const StepPlan& plan);
  void plan_decode_run(const StepPlan& plan, SimTime now);
  void cut(SimTime now, EventQueue& events);
  void reconsider(SimTime now, EventQueue& events);
  void cut_for_blocks(SimTime now, EventQueue& events);
  void forget(RequestId id);
  void note_preempted(const StepPlan& plan, SimTime now);
  void count_steps(const StepPlan& plan, const StepOutcome& outcome, SimTime now);
  void find_gaps(SimTime now);
  void take_back(std::size_t& ended);
  void add_gaps(std::int64_t steps);
  void add_late_gaps();
  void add_run_gaps(std::int64_t first, std::int64_t last);
  void note_starved();
  void add_gap(RequestId id, SimTime gap);
  void stop_lagging(RequestId id);
  void note_messages();
  std::int64_t outputs(RequestId id) const;
  void send_messages(std::size_t ended, SimTime now);
  void settle_tokens(std::size_t ended, SimTime now);
  void log_queued(RequestId id, SimTime now);
  void log_launch(const StepPlan& plan, SimTime now);
  void log_end(std::int64_t steps, SimTime now);

  std::uint32_t slot_;
  const PoolSpec& pool_;
  bool stepwise_;
  RequestTable& table_;
  const std::vector<Histogram*>& gaps_;
  const StepCurve* busy_;  ///< null: one stage
  std::int64_t max_running_;
  std::unique_ptr<Scheduler> scheduler_;
  StepRows rows_;  ///< kept only for an executor
  MessageMeter messages_;
  bool ahead_;                      ///< a step is planned when the one before it ends, not at an event of its own
  const StepPlan* plan_ = nullptr;  ///< of the step in progress
  bool fresh_ = false;              ///< nothing has ended since it was planned
  Composition composition_;
  bool in_range_ = true;  ///< of the step in progress; the same for all steps of a composition
  SimTime work_ = 0;      ///< pipeline: of an average stage in the step in progress, where it belongs to no composition
  SimTime step_start_ = 0;
  std::int64_t steps_in_flight_ = 0;  ///< 0: idle
  std::vector<RequestId> lagging_;    ///< decoding requests that got no token in the last step
  std::vector<RequestId> aborted_;
  std::vector<RequestId> left_;  ///< by the step that ends: those that ended, then those that were aborted
  std::vector<RequestId> prefilled_;
  struct CaughtUp {
    RequestId id;
    SimTime gap;
  };
  std::vector<CaughtUp> caught_up_;  ///< got a token in the step that ends, but none in the one before
  std::vector<RequestId> undone_;    ///< lose the token of the last step
  std::vector<std::int64_t> due_;    ///< by group: the others that got one
  bool run_ = false;                 ///< the steps that end are a run
  SimTime gap_ = 0;                  ///< the common gap otherwise
  SimTime last_step_start_ = 0;
  std::int64_t barren_preemptions_ = 0;
  std::unique_ptr<KvEvents> kv_events_;  ///< null: nobody wants to know
  std::int64_t published_ = 0;           ///< steps of the run in progress whose events are published
  DecisionLog* log_ = nullptr;
  RequestId logged_;                               ///< the request that the log wants, once it came here
  std::optional<DecisionLog::Stage> logged_step_;  ///< its part in the step in progress
  ReplicaReport report_;
};

}  // namespace poolcast
