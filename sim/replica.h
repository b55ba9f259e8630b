// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/event_queue.h"
#include "sim/histogram.h"
#include "sim/kv_events.h"
#include "sim/kv_reading.h"
#include "sim/report.h"
#include "sim/request_table.h"
#include "sim/schedulers/scheduler.h"
#include "sim/spec.h"

namespace poolcast {

struct DecisionLog;

/// One engine instance on the devices of its layout (of one data-parallel rank, where it has several), as the
/// simulation sees it. It has at most one event in the queue, in its own slot: the end of work in progress, or the
/// start of the next step.
class Replica {
 public:
  virtual ~Replica() = default;

  virtual void enqueue(RequestId id, SimTime now, EventQueue& events) = 0;
  /// Takes a request out: at once when it waits (true), else at the end of the step in progress.
  virtual bool abort(RequestId id, SimTime now, EventQueue& events) = 0;

  virtual void start_step(SimTime now, EventQueue& events) = 0;
  /// Ends the work in progress that is due. Returns the requests that left, in order: those that completed, then those
  /// that were aborted meanwhile. Their slots are the caller's to release.
  virtual const std::vector<RequestId>& end_step(SimTime now, EventQueue& events) = 0;
  /// Requests that the step just planned gave blocks for KV from elsewhere. Valid until the next step ends.
  virtual std::span<const StepPlan::Load> loads() const { return {}; }
  /// The KV that a request waited for has come.
  virtual void loaded(RequestId id, SimTime now, EventQueue& events);
  /// The blocks of a prompt that was computed here for another replica are wanted no longer.
  virtual void release_handed(RequestId id, SimTime now, EventQueue& events);
  /// Stops for good and hands out everything it holds.
  virtual std::vector<RequestId> give_up(EventQueue& events) = 0;

  virtual std::int64_t waiting() const = 0;
  virtual std::int64_t running() const = 0;
  /// Share of the KV memory in use by the step in progress, or by the last one. Reading it changes nothing.
  virtual KvReading read_kv(SimTime now) const {
    (void)now;
    return {};
  }
  /// How long it was in steps up to `now`, which is not before its last change; summed over its instances.
  virtual SimTime busy(SimTime now) const = 0;
  virtual std::int64_t instances() const { return 1; }
  double kv_usage(SimTime now) const { return read_kv(now).share; }
  /// Whether it takes no more requests (PoolSpec::max_pending_requests).
  virtual bool full() const = 0;
  /// From now on it tells what its prefix cache holds; null where its kind does not.
  virtual KvEvents* tell_cache() { return nullptr; }
  /// Publishes what the steps that ended by `now` told: of a run of steps, those of its steps.
  virtual void publish_cache(SimTime now) { (void)now; }
  /// Preemptions since a request last left: the sign of a livelock.
  virtual std::int64_t barren_preemptions() const { return 0; }
  /// Counters; complete when no event is pending.
  virtual const ReplicaReport& report() = 0;
  /// Writes down what it does with the request that the log wants, where the engine works in steps. The log outlives
  /// it.
  virtual void watch(DecisionLog* log) { (void)log; }
  /// KV memory that is free now, in the unit of ReplicaReport::kv_blocks_usable.
  virtual std::int64_t free_blocks() const = 0;
};

/// The replica that the pool's engine kind asks for. `gaps` holds, per group, where gaps between tokens are counted
/// (null: not measured). It, `pool` and `table` outlive the replica.
std::unique_ptr<Replica> make_replica(std::uint32_t slot, PoolId pool_id, const PoolSpec& pool, bool stepwise,
                                      RequestTable& table, const std::vector<Histogram*>& gaps, std::uint64_t seed);

}  // namespace poolcast
