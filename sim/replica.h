// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/histogram.h"
#include "sim/report.h"
#include "sim/request_table.h"
#include "sim/schedulers/vllm.h"
#include "sim/spec.h"

namespace poolcast {

/// One engine instance: its scheduler decides what a step holds, its pool's curve says how long it takes.
///
/// A replica has at most one event: the end of the step (or leap) in progress, or the start of the next. A leap is a
/// run of decode-only steps of one composition; its step ends are computed from the start of the composition by one
/// expression (`step_end`), so that it does not matter where the run is cut into leaps: single steps give the same
/// instants to the last nanosecond.
class Replica {
 public:
  /// `gaps` holds, per group, where gaps between tokens are counted (null: not measured). It and `pool` outlive the
  /// replica.
  Replica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, bool stepwise, RequestTable& table,
          const std::vector<Histogram*>& gaps);

  void enqueue(RequestId id, SimTime now, EventQueue& events);
  /// Takes a request out: at once when it waits (true), else at the end of the step in progress.
  bool abort(RequestId id, SimTime now, EventQueue& events);

  void start_step(SimTime now, EventQueue& events);
  /// Ends the step or leap in progress. Returns the requests that left, in order: those that reached their length, then
  /// those that were aborted meanwhile. Their slots are the caller's to release.
  const std::vector<RequestId>& end_step(SimTime now, EventQueue& events);

  std::int64_t waiting() const { return scheduler_.waiting(); }
  std::int64_t running() const { return scheduler_.running(); }
  /// Whether it takes no more requests (PoolSpec::max_pending_requests).
  bool full() const;
  /// Preemptions since a request last left: the sign of a livelock.
  std::int64_t barren_preemptions() const { return barren_preemptions_; }
  /// Stops for good and hands out everything it holds.
  std::vector<RequestId> give_up(EventQueue& events);

  /// Counters; complete when no event is pending.
  const ReplicaReport& report() const { return report_; }
  const VllmScheduler& scheduler() const { return scheduler_; }

 private:
  /// A stretch of decode-only steps of the same requests on one line of the curve.
  struct Composition {
    bool active = false;
    SimTime start = 0;
    std::int64_t steps = 0;  ///< ended so far
    double first_s = 0;      ///< duration of its first step
    double growth_s = 0;     ///< by which each step is longer than the one before
    Tokens last_context = 0;
    std::uint64_t version = 0;
  };

  SimTime step_end(std::int64_t step) const;  ///< end of step `step` of the composition, from 1
  SimTime step_gap(std::int64_t step) const;  ///< duration of that step
  static StepShape shape_of(const StepPlan& plan);
  void plan_decode_run(const StepPlan& plan, SimTime now);
  void cut(SimTime now, EventQueue& events);
  void note_preempted(const StepPlan& plan, SimTime now);
  void count_steps(const StepPlan& plan, const StepOutcome& outcome, SimTime now);
  void add_run_gaps(std::int64_t first, std::int64_t last);
  void add_step_gaps(SimTime now);
  void note_starved();
  void add_gap(RequestId id, SimTime gap);
  void settle_tokens(const StepOutcome& outcome, SimTime now);
  bool is_lagging(RequestId id) const;

  std::uint32_t slot_;
  const PoolSpec& pool_;
  bool stepwise_;
  RequestTable& table_;
  const std::vector<Histogram*>& gaps_;
  VllmScheduler scheduler_;
  const StepPlan* plan_ = nullptr;  ///< of the step in progress
  Composition composition_;
  bool in_range_ = true;  ///< of the step in progress; the same for all steps of a composition
  SimTime step_start_ = 0;
  std::int64_t steps_in_flight_ = 0;  ///< 0: idle
  std::vector<RequestId> lagging_;    ///< decoding requests that got no token in the last step
  std::vector<RequestId> aborted_;
  std::vector<RequestId> left_;
  std::int64_t barren_preemptions_ = 0;
  ReplicaReport report_;
};

}  // namespace poolcast
