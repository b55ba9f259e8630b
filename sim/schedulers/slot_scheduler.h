// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedulers/buckets.h"
#include "sim/schedulers/scheduler.h"
#include "sim/schedulers/waiting_queue.h"

namespace poolcast {

/// An engine with a fixed number of slots and no paging: each slot holds one sequence of any length that was compiled.
/// Waiting prompts come first, one a step and alone in it; when no prompt waits or no slot is free, every running
/// request decodes.
///
/// Neuron: ContinuousBatchingNeuronScheduler of vllm-neuron at a5ef7c8. JetStream: the generate loop of the
/// orchestrator in interleaved mode at acd4f5ad, where a slot is free again at once (the real one may notice up to 8
/// steps late) and a prompt is not prefilled ahead while all slots are taken.
class SlotScheduler final : public Scheduler {
 public:
  SlotScheduler(const BucketedArgs& args, RequestTable& table, std::size_t groups);

  void enqueue(RequestId id) override;
  void abort(RequestId id) override;
  const StepPlan& schedule() override;
  const StepPlan& schedule_literally() override { return schedule(); }
  std::int64_t certain_steps(Tokens last_context) override;
  const StepOutcome& finish(std::int64_t steps) override;
  bool may_admit() override { return !waiting_.empty() && running() < slots_; }
  std::vector<RequestId> take_all() override;

  std::int64_t running() const override { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t waiting() const override { return waiting_.size(); }
  std::int64_t opened_by(std::int64_t) const override { return 0; }
  std::int64_t free_blocks() const override { return slots_ - running(); }
  std::int64_t usable_blocks() const override { return slots_; }
  const DecodeSet& decodes() const override { return decodes_; }

 private:
  void plan_prompt();
  void plan_decodes();
  Tokens longest() const;

  RequestTable& table_;
  WaitingQueue waiting_;
  DecodeSet decodes_;
  Buckets buckets_;
  std::int64_t slots_;
  std::vector<RequestId> order_;  ///< running requests, by admission
  StepPlan plan_;
  StepOutcome outcome_;
};

}  // namespace poolcast
