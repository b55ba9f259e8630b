// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/request_table.h"
#include "sim/schedulers/decode_set.h"
#include "sim/schedulers/request_list.h"
#include "sim/schedulers/scheduler.h"
#include "sim/schedulers/tensorrt_llm_args.h"
#include "sim/schedulers/tensorrt_llm_blocks.h"
#include "sim/schedulers/tensorrt_llm_capacity.h"
#include "sim/schedulers/tensorrt_llm_micro_batch.h"
#include "sim/schedulers/waiting_queue.h"

namespace poolcast {

/// The scheduling loop of TensorRT-LLM's PyTorch flow (tensorrt_llm/_torch/pyexecutor/py_executor.py, early 2026, with
/// the first KV cache manager, beam width 1, no pipeline, no draft tokens). Requests are fetched from the queue while
/// fewer than max_batch_size are active and keep their place for life, also when they are paused. A step is what the
/// capacity scheduler lets through (TrtCapacity) and the micro-batch scheduler gives tokens to (TrtMicroBatch).
///
/// With the overlap scheduler the end of a request is noticed one step late: its slot and its blocks come back after
/// the next step has been put together. Its tokens are not later. (Blocks of prompts can be found by the next step
/// either way; upstream lags there too.)
///
/// Departs where upstream fails: a generating request that finds no block (an under-reservation, see TrtCapacity) is
/// paused itself, a prompt that finds too few waits; a paused prompt beyond the token budget runs alone; a prompt
/// paused half-way leaves only computed blocks behind.
///
/// `schedule` treats the generating requests as a whole; where somebody has to be paused, or goes without a token, it
/// falls back on the walk that `schedule_literally` always takes.
class TensorrtLlmScheduler final : public Scheduler {
 public:
  TensorrtLlmScheduler(const TensorrtLlmArgs& args, RequestTable& table, std::size_t groups);

  void enqueue(RequestId id) override;
  void abort(RequestId id) override;

  const StepPlan& schedule() override { return plan(false); }
  const StepPlan& schedule_literally() override { return plan(true); }

  std::int64_t certain_steps(Tokens last_context) override;
  const StepOutcome& finish(std::int64_t steps) override;
  bool may_admit() override;
  std::vector<RequestId> take_all() override;

  std::int64_t running() const override { return active_.size() - pending_; }
  std::int64_t waiting() const override { return queue_.size() + pending_; }
  std::int64_t opened_by(std::int64_t steps) const override { return decodes_.open_blocks(steps - 1).opened - opened_; }
  bool tell_cache(KvEvents* events) override;
  void settle_cache(std::int64_t steps) override;
  bool changes_cache(std::int64_t step) const override { return kv_.reuses() && decodes_.new_blocks(step - 1) > 0; }
  std::int64_t free_blocks() const override { return kv_.free(); }
  std::int64_t usable_blocks() const override { return kv_.usable(); }
  const DecodeSet& decodes() const override { return decodes_; }
  PrefixStats prefix_stats() const override { return stats_; }
  std::vector<Departure> departures() const override;

  /// For tests: the last decision of the capacity scheduler, and the active requests in order.
  const TrtCapacity& capacity() const { return capacity_; }
  template <class Visit>
  void for_each_active(Visit visit) const {
    for (std::uint32_t at = active_.head(); at != kNone; at = table_.state(RequestId(at)).next) visit(RequestId(at));
  }

 private:
  static constexpr std::uint32_t kNone = RequestList::kNone;

  const StepPlan& plan(bool literally);
  void fetch();
  TrtCapacity::View view();
  bool decide_at_once();
  void decide_in_order();
  TrtMicroBatch::Context context_of(const TrtCapacity::Fit& fit) const;
  void hold_prompts_back();
  void give_chunk(const TrtMicroBatch::Context& context);
  bool start_prompt(RequestId id, Tokens& chunk);
  void open_generated_blocks();
  void pause(RequestId id);
  void complete_plan();
  void clear_plan();
  void release_kept();

  /// Whether prompts can come before generating requests in a step.
  bool in_arrival_order() const {
    return args_.capacity_scheduler_policy == TensorrtLlmArgs::CapacityPolicy::kMaxUtilization;
  }
  void end_requests();
  void start_generating(RequestId id);
  void stop_generating(RequestId id);
  void note_stopped(RequestId id, Tokens held);
  bool active(RequestId id) const { return table_.state(id).previous != kNone || active_.head() == id.value; }
  void unlink(RequestId id);
  void enter_context(RequestId id);
  void leave_context(RequestId id);

  TensorrtLlmArgs args_;
  RequestTable& table_;
  WaitingQueue queue_;
  DecodeSet decodes_;
  TrtBlocks kv_;
  TrtCapacity capacity_;
  TrtMicroBatch batch_;
  StepPlan plan_;
  StepOutcome outcome_;
  PrefixStats stats_;

  std::int64_t short_of_blocks_ = 0;  ///< generating requests paused where upstream fails
  std::int64_t short_prompts_ = 0;    ///< steps for which a prompt waited where upstream fails
  std::int64_t long_prompts_ = 0;     ///< paused prompts beyond the budget that ran alone
  std::vector<RequestId> contexts_;   ///< active and not generating, by admission
  RequestList active_;
  std::int64_t pending_ = 0;           ///< active without blocks
  std::int64_t opened_ = 0;            ///< blocks that later steps of the planned run have opened already
  std::int64_t generated_need_ = 0;    ///< blocks of the whole sequences of generating requests …
  std::int64_t generated_held_ = 0;    ///< … and those that they have
  std::int64_t held_back_steps_ = 0;   ///< for which prompts have been held back
  bool unsettled_ = false;             ///< the next step may decide otherwise though nothing happens
  std::vector<TrtBlocks::Kept> kept_;  ///< ended, which the loop does not know yet
  std::size_t kept_count_ = 0;         ///< the rest of `kept_` is memory for later
};

}  // namespace poolcast
