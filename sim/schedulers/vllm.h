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
///
/// With `async_scheduling` the plan of a step is made while the step before it runs. Here it is made when that one has
/// ended, with what was known when it began: requests that came meanwhile are not seen, and those that ended in it hold
/// their slot and blocks until the plan is made. An idle engine sees everything at once.
///
/// With speculation every request that produces tokens has drafts, which it asks tokens and blocks for; the requests
/// that decode are then treated one by one, as prompts in small chunks.
class VllmScheduler final : public Scheduler {
 public:
  /// With `buckets` every step is padded up to a compiled shape, as vLLM on TPU does.
  VllmScheduler(const VllmArgs& args, RequestTable& table, std::size_t groups,
                std::optional<Buckets> buckets = std::nullopt, std::uint64_t seed = 0);

  void enqueue(RequestId id) override;
  void abort(RequestId id) override;

  const StepPlan& schedule() override { return plan_step(false); }
  const StepPlan& schedule_literally() override { return plan_step(true); }

  std::int64_t certain_steps(Tokens last_context) override;
  const StepOutcome& finish(std::int64_t steps) override;
  void begun(std::int64_t steps) override;
  bool tell_cache(KvEvents* events) override;
  void settle_cache(std::int64_t steps) override;
  bool changes_cache(std::int64_t step) const override;
  std::int64_t opened_by(std::int64_t steps) const override { return decodes_.open_blocks(steps - 1).opened - opened_; }
  bool may_admit() override;
  std::vector<RequestId> take_all() override;
  void loaded(RequestId id) override;
  void release_handed(RequestId id) override;

  std::int64_t running() const override { return running_.size(); }
  std::int64_t waiting() const override {
    return waiting_.size() +
           static_cast<std::int64_t>(loading_.size() + loaded_.size() + came_.size() + landed_.size());
  }
  std::int64_t free_blocks() const override { return kv_.free(); }
  std::int64_t usable_blocks() const override { return kv_.usable(); }
  const DecodeSet& decodes() const override { return decodes_; }
  PrefixStats prefix_stats() const override { return stats_; }
  SpeculationStats speculation_stats() const override { return speculation_stats_; }
  bool plans_ahead() const override { return args_.async_scheduling; }

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
  const StepPlan& plan_step(bool literally);
  Tokens computed(RequestId id) const;
  Tokens wanted(RequestId id, Tokens budget) const;
  bool schedule_running_at_once(Tokens& budget);
  void schedule_running_in_order(Tokens& budget);
  bool make_room(RequestId id, std::int64_t need, Tokens& budget);
  RequestId victim() const;
  RequestId least_computed() const;
  void preempt(RequestId id, Tokens& budget);
  void admit_waiting(Tokens& budget);
  KvBlocks::Match match(RequestId id) { return kv_.match(id, table_.state(id).tokens, drops_last_hit_); }
  bool fits(const SchedulerState& s, const KvBlocks::Match& found, Tokens n) const;
  void admit(RequestId id, const KvBlocks::Match& found, Tokens n);
  bool admit_loaded(Tokens& budget);
  bool start_loading(RequestId id, const KvBlocks::Match& found);
  bool start_host_load(RequestId id, const KvBlocks::Match& found, std::int64_t host_blocks);
  std::int64_t owed_blocks() const;
  std::int64_t loading_blocks(RequestId id) const;
  void wait_for_kv(RequestId id, Tokens end, const StepPlan::Load& load);
  void enter_running(RequestId id, Tokens computed, Tokens n);
  void settle_outputs(std::int64_t steps = 1);
  bool may_find_more();
  void start_decoding(RequestId id);
  void stop_decoding(RequestId id);
  void give_chunk(RequestId id, Tokens n);
  void complete_plan();
  void stop_prefilling(RequestId id);
  void finish_decodes(std::int64_t steps);
  void finish_prompts();
  void check_drafts(RequestId id);
  void let_go(RequestId id, Tokens held);
  std::int64_t& held_blocks(RequestId id) {
    if (held_blocks_.size() <= id.value) held_blocks_.resize(id.value + std::size_t{1});
    return held_blocks_[id.value];
  }
  /// Tokens of a decoding request in the planned step whose KV may be cached: of one planned ahead the last is not
  /// known yet.
  Tokens known(Tokens done) const { return done + (args_.async_scheduling ? 0 : 1); }
  void give_back(RequestId id, Tokens held, Tokens computed, KvBlocks::Leaving how = KvBlocks::Leaving::kEnded);
  std::int64_t blocks_to_add(RequestId id, Tokens done, Tokens n);
  void add_blocks(RequestId id, Tokens done, Tokens n, std::int64_t count);

  // vllm_async.cpp
  void linger(RequestId id, Tokens held);
  bool catch_up();
  void preempt_lingering(RequestId id);

  VllmArgs args_;
  RequestTable& table_;
  WaitingQueue waiting_;
  RequestList running_;
  DecodeSet decodes_;
  std::vector<RequestId> prefilling_;  ///< by admission
  std::vector<RequestId> loading_;     ///< wait for KV from elsewhere
  std::vector<RequestId> loaded_;      ///< have it and wait to be scheduled, in the order in which it came
  std::vector<RequestId> came_;        ///< asynchronous: while the planned step ran …
  std::vector<RequestId> landed_;      ///< … with KV from elsewhere
  struct Lingering {
    RequestId id;
    Tokens held;
  };
  std::vector<Lingering> lingering_;  ///< asynchronous: ended in the last step, not let go of yet
  std::vector<Tokens> demands_;       ///< scratch of schedule_running_at_once
  StepPlan plan_;
  StepOutcome outcome_;
  KvBlocks kv_;
  std::optional<Buckets> buckets_;
  PrefixStats stats_;
  std::int64_t watermark_blocks_;
  Acceptance acceptance_;
  SpeculationStats speculation_stats_;
  std::vector<std::int64_t> held_blocks_;  ///< by slot; with speculation, whose blocks do not follow from the tokens
  std::int64_t draft_slots_;
  bool speculates_, drops_last_hit_;
  bool ahead_ = false;         ///< the next plan is that of a step that follows at once
  bool ended_ = false;         ///< the planned step
  bool gave_way_ = false;      ///< somebody lost his blocks in the planned step
  std::int64_t opened_ = 0;    ///< blocks that later steps of the planned run have opened already
  std::int64_t used_ = 0;      ///< blocks in use when the step was planned
  std::int64_t quotable_ = 0;  ///< decoding requests whose output others may have in their prompts
  struct Refused {
    std::uint32_t id = kNone;
    std::uint32_t generation = 0;
  } refused_;  ///< the waiting request that did not fit in the planned step
};

}  // namespace poolcast
