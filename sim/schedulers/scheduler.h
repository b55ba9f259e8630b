// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/step_curve.h"
#include "sim/ids.h"
#include "sim/kv_events.h"
#include "sim/prefix_stats.h"
#include "sim/schedulers/decode_set.h"
#include "sim/schedulers/fidelity.h"
#include "sim/schedulers/speculation.h"

namespace poolcast {

/// The shape that an engine with compiled shapes runs in place of the planned one. tokens 0: the planned one itself.
struct Padding {
  Tokens tokens = 0;                 ///< in the linear layers
  std::int64_t sampled = 0;          ///< rows that sample
  std::int64_t decode_requests = 0;  ///< rows of decode attention …
  Tokens decode_context = 0;         ///< … and their summed context; 0: attention takes the real lengths

  bool operator==(const Padding&) const = default;
};

/// What the scheduler decided for the next step. Valid until the next call of `schedule`.
struct StepPlan {
  Tokens tokens = 0;  ///< 0: nothing can be scheduled
  std::int64_t requests = 0;
  std::int64_t decode_requests = 0;
  Tokens decode_context = 0;          ///< the new tokens included
  std::int64_t sampled = 0;           ///< requests that produce a token
  std::vector<PrefillChunk> prefill;  ///< in the order of `prefill_ids`
  std::vector<RequestId> prefill_ids;
  std::vector<RequestId> admitted;  ///< in order; a resumed request too
  std::vector<RequestId> starved;   ///< decoding requests that get no token
  struct Preempted {
    RequestId id;
    bool was_decoding;
    Tokens dropped;       ///< computed tokens that it loses
    bool undone = false;  ///< the token of its last step is thrown away: it counts as not produced
  };
  std::vector<Preempted> preempted;  ///< in order
  struct Load {
    RequestId id;
    Tokens tokens;           ///< whose KV is to come from elsewhere
    bool from_host = false;  ///< the memory of the replica's own host
  };
  std::vector<Load> loads;  ///< requests that got blocks for KV from elsewhere, in order
  Tokens recomputed = 0;    ///< tokens that resumed requests lost and did not find in a cache
  Tokens wasted = 0;        ///< of `tokens`: decoded for requests that had ended already
  bool again = false;       ///< nothing for now, but there may be something when it is asked anew at the same instant

  Padding padding;
  std::vector<PrefillChunk> padded_prefill;  ///< what runs in place of `prefill`; empty: `prefill` itself
  Seconds stall{0};                          ///< beside the step itself: compiling, drafting
  std::int64_t compiled = 0;                 ///< programs

  /// Every running request decodes and gets its token: such a step may be repeated.
  bool decode_only() const { return tokens > 0 && prefill.empty() && starved.empty(); }
  void clear();
};

/// What a step, or a run of alike steps, brought.
struct StepOutcome {
  std::vector<RequestId> prefilled;  ///< finished their prompt, or checked drafts, and produced tokens
  std::vector<RequestId> ended;      ///< reached their length, in scheduling order; may overlap with `prefilled`
  std::int64_t block_steps = 0;      ///< blocks in use after scheduling, summed over the steps
  std::int64_t blocks_used = 0;      ///< the same of the last step, which is the most
  Tokens rejected = 0;               ///< computed for drafts that are thrown away
};

/// The scheduling loop of one engine instance. Requests live in the table; the scheduler keeps their SchedulerState.
///
/// `schedule` and `schedule_literally` must give the same decision: the second walks the engine's own loop, the first
/// may treat the decoding requests as a whole. A decode-only plan may be repeated for `certain_steps` steps, which is
/// what makes a leap.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  virtual void enqueue(RequestId id) = 0;
  /// Takes out a request that waits or runs, between steps.
  virtual void abort(RequestId id) = 0;

  virtual const StepPlan& schedule() = 0;
  virtual const StepPlan& schedule_literally() = 0;

  /// Steps, the planned one included, for which the plan will repeat if nothing arrives: at most up to the first end,
  /// the first shortage of memory, and the last step whose decode context is at most `last_context`; at least 1. Only
  /// for a decode-only plan.
  virtual std::int64_t certain_steps(Tokens last_context) = 0;
  /// Ends the planned step and `steps - 1` repetitions of it.
  virtual const StepOutcome& finish(std::int64_t steps) = 0;
  /// The first `steps` steps of the planned run have begun, so the blocks that they open are taken by now. To be told
  /// before blocks come free in the middle of a run; others need not know.
  virtual void begun(std::int64_t steps) { (void)steps; }
  /// Blocks that the planned run opens in its first `steps` steps beside those that `free_blocks` knows of.
  virtual std::int64_t opened_by(std::int64_t steps) const {
    (void)steps;
    return 0;
  }
  /// From now on what enters the prefix cache and leaves it is told to `events`, which outlives this; false: this kind
  /// does not tell.
  virtual bool tell_cache(KvEvents* events) {
    (void)events;
    return false;
  }
  /// The first `steps` steps of the planned run have begun: all that they did to the prefix cache is told by now. Only
  /// where somebody wants to know; changes nothing else.
  virtual void settle_cache(std::int64_t steps) { (void)steps; }
  /// Whether step `step` of the planned run, the second or a later one, may change the prefix cache.
  virtual bool changes_cache(std::int64_t step) const {
    (void)step;
    return true;
  }
  /// Whether a waiting request could be admitted at the next step boundary of a decode-only run. May say yes wrongly,
  /// never no.
  virtual bool may_admit() = 0;
  /// Lets go of everything, running requests first, in order.
  virtual std::vector<RequestId> take_all() = 0;

  /// Disaggregated prefill, for kinds that can: the KV that a request waited for has come …
  virtual void loaded(RequestId id);
  /// … and the blocks of one that was handed over are wanted no longer.
  virtual void release_handed(RequestId id);

  virtual std::int64_t running() const = 0;
  virtual std::int64_t waiting() const = 0;
  /// KV memory in the engine's own unit (blocks, pages or tokens). Everything is free when nothing runs.
  virtual std::int64_t free_blocks() const = 0;
  virtual std::int64_t usable_blocks() const = 0;
  virtual const DecodeSet& decodes() const = 0;
  virtual PrefixStats prefix_stats() const { return {}; }
  virtual SpeculationStats speculation_stats() const { return {}; }
  /// Whether a step is planned before the results of the one before it are known: `schedule` is then called right after
  /// `finish`, and its plan may undo an end or a token that `finish` told of (StepPlan::Preempted::undone).
  virtual bool plans_ahead() const { return false; }
  virtual std::vector<Departure> departures() const { return {}; }
};

}  // namespace poolcast
