// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/request_table.h"
#include "sim/schedulers/buckets.h"
#include "sim/schedulers/decode_set.h"
#include "sim/schedulers/kv_blocks.h"
#include "sim/schedulers/request_list.h"
#include "sim/schedulers/scheduler.h"
#include "sim/schedulers/vllm_args.h"
#include "sim/schedulers/waiting_queue.h"

namespace poolcast {

/// The scheduling loop of vLLM V1 (vllm/v1/core/sched/scheduler.py at 017e9f4448): running requests first,
/// in order of admission, then waiting ones, under one token budget; a running request that finds no block preempts the
/// last admitted one (priority policy: the least urgent), which comes back later and is computed again as far as the
/// prefix cache does not hold it.
///
/// The loop exists twice. `schedule_literally` walks the running list as vLLM does. `schedule` treats the decoding
/// requests as a whole and gives the same decision; where order could matter (a shortage of blocks or of budget before
/// younger decodes) it falls back on the walk.
class VllmScheduler final : public Scheduler {
 public:
  /// With `buckets` every step is padded up to a compiled shape, as vLLM on TPU does.
  VllmScheduler(const VllmArgs& args, RequestTable& table, std::size_t groups,
                std::optional<Buckets> buckets = std::nullopt);

  void enqueue(RequestId id) override;
  void abort(RequestId id) override;

  const StepPlan& schedule() override;
  const StepPlan& schedule_literally() override;

  std::int64_t certain_steps(Tokens last_context) override;
  const StepOutcome& finish(std::int64_t steps) override;
  void begun(std::int64_t steps) override;
  std::int64_t opened_by(std::int64_t steps) const override { return decodes_.open_blocks(steps - 1).opened - opened_; }
  bool may_admit() override;
  std::vector<RequestId> take_all() override;
  void loaded(RequestId id) override;
  void release_handed(RequestId id) override;

  std::int64_t running() const override { return running_.size(); }
  std::int64_t waiting() const override {
    return waiting_.size() + static_cast<std::int64_t>(loading_.size() + loaded_.size());
  }
  std::int64_t free_blocks() const override { return kv_.free(); }
  std::int64_t usable_blocks() const override { return kv_.usable(); }
  const DecodeSet& decodes() const override { return decodes_; }
  PrefixStats prefix_stats() const override { return stats_; }

  /// The running list in order, for tests: calls `visit(id, computed tokens, tokens in the planned step)`.
  template <class Visit>
  void for_each_running(Visit visit) const {
    for (std::uint32_t at = running_.head(); at != kNone; at = table_.state(RequestId(at)).next) {
      const SchedulerState& s = table_.state(RequestId(at));
      const bool decoding = s.standing == Standing::kDecoding;
      visit(RequestId(at), decoding ? decodes_.tokens(RequestId(at)) - 1 : s.computed,
            decoding ? (s.starved ? 0 : 1) : s.chunk);
    }
  }

 private:
  static constexpr std::uint32_t kNone = RequestList::kNone;

  Tokens begin_plan();
  Tokens computed(RequestId id) const;
  Tokens wanted(RequestId id, Tokens budget) const;
  bool schedule_running_at_once(Tokens& budget);
  void schedule_running_in_order(Tokens& budget);
  bool make_room(RequestId id, std::int64_t need, Tokens& budget);
  RequestId victim() const;
  void preempt(RequestId id, Tokens& budget);
  void admit_waiting(Tokens& budget);
  bool fits(const SchedulerState& s, const KvBlocks::Match& found, Tokens n) const;
  void admit(RequestId id, const KvBlocks::Match& found, Tokens n);
  bool admit_loaded(Tokens& budget);
  bool start_loading(RequestId id, const KvBlocks::Match& found);
  void enter_running(RequestId id, Tokens computed, Tokens n);
  void settle_outputs();
  bool may_find_more();
  void start_decoding(RequestId id);
  void stop_decoding(RequestId id);
  void give_chunk(RequestId id, Tokens n);
  void complete_plan();
  void stop_prefilling(RequestId id);
  void finish_decodes(std::int64_t steps);
  void finish_prompts();
  void let_go(RequestId id);

  VllmArgs args_;
  RequestTable& table_;
  WaitingQueue waiting_;
  RequestList running_;
  DecodeSet decodes_;
  std::vector<RequestId> prefilling_;  ///< by admission
  std::vector<RequestId> loading_;     ///< wait for KV from elsewhere
  std::vector<RequestId> loaded_;      ///< have it and wait to be scheduled, in the order in which it came
  std::vector<Tokens> demands_;        ///< scratch of schedule_running_at_once
  StepPlan plan_;
  StepOutcome outcome_;
  KvBlocks kv_;
  std::optional<Buckets> buckets_;
  PrefixStats stats_;
  std::int64_t watermark_blocks_;
  std::int64_t opened_ = 0;    ///< blocks that later steps of the planned run have opened already
  std::int64_t used_ = 0;      ///< blocks in use when the step was planned
  std::int64_t quotable_ = 0;  ///< decoding requests whose output others may have in their prompts
  struct Refused {
    std::uint32_t id = kNone;
    std::uint32_t generation = 0;
  } refused_;  ///< the waiting request that did not fit in the planned step
};

}  // namespace poolcast
