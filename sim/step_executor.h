// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "models/step_curve.h"
#include "sim/schedulers/scheduler.h"

namespace poolcast {

/// A request's part in a step: `query` tokens after `context` tokens whose KV is there already.
struct StepRow {
  RequestId id;
  Tokens query = 0;
  Tokens context = 0;
  bool samples = false;  ///< a token comes out for it
};

/// Executes the planned steps of one replica on a real device, in place of the curve that tells their duration.
/// The simulation waits in its own clock for as long as `run` says a step took.
///
/// Contract: one replica has one executor. A row with context 0 begins a sequence anew. Prefix caches are off and steps
/// are not planned ahead, so that rows alone tell what the KV cache must hold.
class StepExecutor {
 public:
  virtual ~StepExecutor() = default;

  /// Runs a step, prefill rows first. Returns how long it took; above zero.
  virtual Seconds run(std::span<const StepRow> rows) = 0;
  /// The request ended, was aborted or preempted: its KV is wanted no longer.
  virtual void forget(RequestId id) = 0;
};

/// Keeps who decodes, and so spells a plan out into rows.
class StepRows {
 public:
  explicit StepRows(RequestTable& table) : table_(table) {}

  const std::vector<StepRow>& spell_out(const StepPlan& plan, const DecodeSet& decodes);
  /// After a step: those that finished their prompt decode from now on.
  void joined(const std::vector<RequestId>& prefilled);
  void left(RequestId id) { std::erase(decoding_, id); }

 private:
  RequestTable& table_;
  std::vector<RequestId> decoding_;
  std::vector<StepRow> rows_;
};

}  // namespace poolcast
