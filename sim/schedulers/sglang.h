// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/request_table.h"
#include "sim/schedulers/decode_set.h"
#include "sim/schedulers/scheduler.h"
#include "sim/schedulers/sglang_adder.h"
#include "sim/schedulers/sglang_args.h"
#include "sim/schedulers/sglang_job.h"
#include "sim/schedulers/sglang_memory.h"
#include "sim/schedulers/sglang_policy.h"

namespace poolcast {

/// Sees what the scheduler decides inside a pass, for tests. The one thing that it may choose is an order that SGLang
/// leaves to memory addresses.
class SglangWatcher {
 public:
  enum class Finish { kLength, kStop, kAbort };

  virtual ~SglangWatcher() = default;
  virtual void adder_started(const SglangAdder& adder) = 0;
  virtual void chunk_added(RequestId id, bool more, const SglangAdder& adder) = 0;
  virtual void tried(RequestId id, SglangAdder::Result result, const SglangAdder& adder) = 0;
  virtual void finished(RequestId id, Finish why) = 0;
  virtual void order_preempted(std::vector<RequestId>& preempted) = 0;  ///< in one pass
};

/// The scheduling loop of SGLang (python/sglang/srt/managers/scheduler.py at 8905cbd), normal and overlap.
///
/// One pass plans a batch: a prefill batch of waiting requests if any can be admitted (with mixed chunks the running
/// requests decode in it too), else a decode step of the running batch, which retracts requests when memory is short.
/// Under the overlap loop a pass is planned before the results of the batch before it are processed: what has been
/// produced counts one less, a request that has ended is decoded once more, and a retracted one loses its last token.
///
/// The running requests stand in `decodes_` as a whole, so that a decode step touches none of them. What a prefill step
/// does to each running request is its share of the reserve, in running order: that sum is not associative.
class SglangScheduler final : public Scheduler {
 public:
  enum class Kind { kIdle, kPrefill, kDecode, kMixed, kCrash };
  struct Declared {
    Tokens max_new;  ///< the client's max_new_tokens
    bool ignore_eos;
  };

  SglangScheduler(const SglangArgs& args, RequestTable& table, std::size_t groups);

  void enqueue(RequestId id) override;
  void enqueue(RequestId id, const Declared& declared);
  void abort(RequestId id) override;

  const StepPlan& schedule() override { return plan_step(false); }
  const StepPlan& schedule_literally() override { return plan_step(true); }
  /// One pass of the event loop, even if it plans nothing; `finish` ends it. `schedule` goes on until a pass has a
  /// batch or nothing can change any more.
  const StepPlan& schedule_pass(bool literally);

  std::int64_t certain_steps(Tokens last_context) override;
  const StepOutcome& finish(std::int64_t steps) override;
  /// An engine that tells takes its steps one by one: what a run of them would evict depends on each.
  bool tell_cache(KvEvents* events) override {
    memory_.tree().tell(events);
    return tells_ = true;
  }
  bool may_admit() override { return !waiting_.empty() && (!full_ || preempts_); }
  std::vector<RequestId> take_all() override;

  std::int64_t running() const override { return live_ - waiting(); }
  std::int64_t waiting() const override { return static_cast<std::int64_t>(waiting_.size()); }
  std::int64_t opened_by(std::int64_t steps) const override {
    return args_.page_size * decodes_.open_blocks(steps - 1).opened;
  }
  std::int64_t free_blocks() const override { return memory_.reachable(); }
  std::int64_t usable_blocks() const override { return memory_.capacity(); }
  const DecodeSet& decodes() const override { return decodes_; }
  PrefixStats prefix_stats() const override { return stats_; }
  bool plans_ahead() const override { return overlap_; }
  std::vector<Departure> departures() const override;

  // What a recorded step shows, for tests.
  Kind kind() const { return batch_.kind; }
  double ratio() const { return ratio_; }
  bool full() const { return full_; }
  const SglangMemory& memory() const { return memory_; }
  std::vector<RequestId> running_batch() const;
  std::vector<RequestId> waiting_queue() const;
  RequestId chunked() const { return chunked_ == kNone ? RequestId() : jobs_[chunked_].id; }
  void watch(SglangWatcher* watcher) { watcher_ = watcher; }
  /// The planned batch in order: calls `visit(id, tokens, tokens in KV before)`.
  template <class Visit>
  void for_each_in_batch(Visit visit) const {
    for (const Job j : batch_.prefill) visit(jobs_[j].id, jobs_[j].extend, jobs_[j].extend_end - jobs_[j].extend);
    for (const Job j : batch_.kind == Kind::kDecode ? running_ : batch_.decode) {
      visit(jobs_[j].id, 1, jobs_[j].decoding ? stored(j) : stored(j) - 1);
    }
  }
  const SglangJob& job(RequestId id) const { return jobs_[table_.state(id).previous]; }

 private:
  using Job = SglangJobs::Job;
  static constexpr Job kNone = UINT32_MAX;

  struct Batch {
    Kind kind = Kind::kIdle;
    std::vector<Job> prefill;
    std::vector<Job> decode;  ///< of a mixed batch; that of a decode batch is the running batch
    std::vector<Job> ended;   ///< of the decodes, in order
    Job chunked = kNone;      ///< of the prefills, the one whose prompt goes on
    std::uint64_t pass = 0;

    void clear();
  };
  /// Where it departs from SGLang (mended), or met its fault (upstream).
  enum Fault { kLost, kHung, kAlone, kMixedShort, kChunkShort, kFaults };

  // sglang_requests.cpp
  void clip(SglangJob& job, Tokens declared) const;
  void describe(SglangJob& job, const Content& content);
  void put_back(Job j);
  void forget(Job j);
  void abort_chunk(Job j);
  void reset();

  // sglang.cpp: the loop
  const StepPlan& plan_step(bool literally);
  void pass();
  void stash_chunk();
  void take_in_last();
  void drop_prefill_only();
  void complete_plan();
  void end_pass(std::int64_t steps);
  void crash(Fault fault);
  bool mended() const { return args_.fidelity == Fidelity::kMended; }
  /// Outputs of a running request as far as their results have been processed.
  Tokens outputs_seen(Job j) const {
    const SglangJob& job = jobs_[j];
    if (job.finished) return job.outputs;
    const Tokens produced = job.decoding ? decodes_.tokens(job.id) - job.prompt : job.outputs;
    if (!overlap_ || last_.kind == Kind::kIdle) return produced;
    return last_.kind != Kind::kPrefill || job.prefilled == last_.pass ? produced - 1 : produced;
  }
  /// Tokens of a running request that have a KV slot.
  Tokens stored(Job j) const {
    const SglangJob& job = jobs_[j];
    return job.decoding ? decodes_.tokens(job.id) - 1 : job.committed;
  }
  bool mixes() const { return args_.enable_mixed_chunk && args_.chunked_prefill_size > 0; }
  std::int64_t free_slots() const { return args_.max_running_requests - slots_held_; }
  std::int64_t room_in_batch() const {
    return std::min(args_.max_running_requests - static_cast<std::int64_t>(running_.size()), free_slots());
  }
  void filter_finished();

  // sglang_prefill.cpp
  bool plan_prefill();
  bool add_chunk(Job& goes_on);
  void start_adder();
  void put_back_preempted();
  void add_waiting();
  void next_round(SglangJob& job);
  bool preempt_for(const SglangJob& job);
  bool take_prefill_memory();
  void admit(Job j);
  void mix();

  // sglang_decode.cpp
  void plan_decode();
  Tokens pages_to_open() const;
  Tokens pages_to_open(const std::vector<Job>& jobs) const;
  bool take_decode_memory();
  void decay();
  void retract();
  bool retract_chunk();
  void release(Job j, std::int64_t left);
  void repeat_decode(std::int64_t steps);

  // sglang_results.cpp
  void produce(std::int64_t steps);
  void produce_prefilled();
  void note_end(Job j);
  void process(const Batch& batch);
  static void sort_by_place(std::vector<Job>& jobs, const std::vector<Job>& order);
  void finish_job(Job j);

  SglangArgs args_;
  RequestTable& table_;
  bool overlap_;
  bool preempts_;
  double init_ratio_, min_ratio_, ratio_decay_;
  SglangJobs jobs_;
  SglangMemory memory_;
  SglangPolicy policy_;
  SglangAdder adder_;
  DecodeSet decodes_;
  std::deque<Job> waiting_;
  std::vector<Job> running_;
  Batch batch_, last_;
  std::vector<Job> ghosts_;  ///< ended in the last step, which the scheduler does not know yet
  std::vector<Job> arriving_, order_, preempted_, lost_;
  std::vector<RequestId> decoded_;
  Job chunked_ = kNone;
  bool full_ = false;
  bool tells_ = false;  ///< somebody wants to know what the cache holds
  double ratio_;
  bool literal_ = false;
  bool crashed_ = false;
  bool had_ghosts_ = false;
  std::uint64_t passes_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t own_ids_ = 0;
  std::int64_t slots_held_ = 0;
  std::int64_t live_ = 0;
  std::int64_t finished_held_ = 0;  ///< finished jobs in a batch
  std::int64_t without_output_ = 0;
  StepPlan plan_;
  StepOutcome outcome_;
  PrefixStats stats_;
  std::array<std::int64_t, kFaults> faults_{};
  SglangWatcher* watcher_ = nullptr;
};

}  // namespace poolcast
