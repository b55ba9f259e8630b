// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/sglang.h"

#include <algorithm>

namespace poolcast {

void SglangScheduler::Batch::clear() {
  kind = Kind::kIdle;
  prefill.clear();
  decode.clear();
  ended.clear();
  chunked = kNone;
}

SglangScheduler::SglangScheduler(const SglangArgs& args, RequestTable& table, std::size_t groups)
    : args_(args),
      table_(table),
      overlap_(!args.disable_overlap_schedule),
      preempts_(args.enable_priority_scheduling && !args.disable_priority_preemption),
      init_ratio_(std::min(args.init_new_token_ratio * args.schedule_conservativeness, 1.0)),
      min_ratio_(std::min(init_ratio_ * args.min_new_token_ratio_factor, 1.0)),
      ratio_decay_((init_ratio_ - min_ratio_) / static_cast<double>(args.new_token_ratio_decay_steps)),
      memory_(args_),
      policy_(args_, jobs_, memory_),
      adder_(args_, jobs_, memory_),
      decodes_(args.page_size, table, groups),
      ratio_(init_ratio_) {}

// ---------------------------------------------------------------- one pass

const StepPlan& SglangScheduler::plan_step(bool literally) {
  literal_ = literally;
  plan_.clear();
  for (;;) {
    const bool after_batch = last_.kind != Kind::kIdle;
    const bool full = full_;
    const std::size_t running = running_.size(), waiting = waiting_.size();
    pass();
    if (plan_.tokens > 0 || crashed_) return plan_;
    end_pass(1);
    if (!after_batch && full == full_ && running == running_.size() && waiting == waiting_.size()) return plan_;
  }
}

const StepPlan& SglangScheduler::schedule_pass(bool literally) {
  literal_ = literally;
  plan_.clear();
  pass();
  return plan_;
}

/// get_next_batch_to_run: a prefill goes before a decode.
void SglangScheduler::pass() {
  if (crashed_) return;
  batch_.clear();
  batch_.pass = ++passes_;
  jobs_.next_pass();
  stash_chunk();
  take_in_last();
  drop_prefill_only();
  if (!plan_prefill() && !crashed_) plan_decode();
  if (!crashed_) complete_plan();
}

/// What has been prefilled of a long prompt goes into the tree before the next chunk is planned.
void SglangScheduler::stash_chunk() {
  if (chunked_ == kNone) return;
  SglangJob& job = jobs_[chunked_];
  if (job.extend_end > job.prefix) memory_.stash(job, true);
}

/// The requests that the last batch prefilled join the running ones, behind them.
void SglangScheduler::take_in_last() {
  if (last_.kind != Kind::kPrefill && last_.kind != Kind::kMixed) return;
  arriving_.clear();
  bool dropped = false;
  for (const std::vector<Job>* part : {&last_.prefill, &last_.decode}) {
    for (const Job j : *part) {
      const bool stays = j != chunked_ && j != last_.chunked && !jobs_[j].finished;
      if (stays) arriving_.push_back(j);
      if (jobs_[j].finished) forget(j);
      dropped |= !stays;
    }
  }
  if (dropped) full_ = false;
  if (arriving_.empty()) return;
  if (running_.empty()) full_ = false;  // there it is another batch object
  running_.insert(running_.end(), arriving_.begin(), arriving_.end());
}

void SglangScheduler::drop_prefill_only() {
  if (without_output_ == 0 || running_.empty()) return;
  for (const Job j : running_) {
    if (jobs_[j].max_new > 0) return;
  }
  filter_finished();
  if (running_.empty()) full_ = false;
}

void SglangScheduler::filter_finished() {
  if (finished_held_ == 0) return;
  std::size_t kept = 0;
  for (const Job j : running_) {
    if (jobs_[j].finished) {
      forget(j);
    } else {
      running_[kept++] = j;
    }
  }
  running_.resize(kept);
}

void SglangScheduler::complete_plan() {
  const bool decodes = batch_.kind == Kind::kDecode || batch_.kind == Kind::kMixed;
  for (const Job j : batch_.prefill) {
    const SglangJob& job = jobs_[j];
    plan_.prefill.push_back({job.extend, job.extend_end - job.extend});
    plan_.prefill_ids.push_back(job.id);
    plan_.tokens += job.extend;
    if (j != batch_.chunked) ++plan_.sampled;
  }
  if (decodes) {
    plan_.decode_requests = decodes_.size() + static_cast<std::int64_t>(ghosts_.size());
    plan_.decode_context = decodes_.context();
    for (const Job j : ghosts_) plan_.decode_context += jobs_[j].prompt + jobs_[j].outputs;
    plan_.wasted = static_cast<Tokens>(ghosts_.size());
    plan_.tokens += plan_.decode_requests;
    plan_.sampled += plan_.decode_requests;
    if (had_ghosts_ || !ghosts_.empty()) decodes_.renew();  // another batch, though the live ones are the same
    had_ghosts_ = !ghosts_.empty();
  } else if (batch_.kind == Kind::kPrefill) {
    for (const Job j : running_) {
      if (!jobs_[j].decoding) continue;
      table_.state(jobs_[j].id).starved = true;
      plan_.starved.push_back(jobs_[j].id);
    }
  }
  plan_.requests = plan_.decode_requests + static_cast<std::int64_t>(plan_.prefill.size());
}

/// Ends a pass and `steps - 1` repetitions of it. A scheduler with nothing to do forgets its new-token ratio.
void SglangScheduler::end_pass(std::int64_t steps) {
  const bool idle = batch_.kind == Kind::kIdle && (!overlap_ || last_.kind == Kind::kIdle);
  if (overlap_) process(last_);
  if (steps > 1) repeat_decode(steps - 1);
  produce(steps);
  if (!overlap_) process(batch_);
  if (idle && running_.empty() && waiting_.empty() && chunked_ == kNone) ratio_ = init_ratio_;
  std::swap(last_, batch_);
}

const StepOutcome& SglangScheduler::finish(std::int64_t steps) {
  outcome_.prefilled.clear();
  outcome_.ended.clear();
  outcome_.block_steps = outcome_.blocks_used = memory_.used();
  end_pass(steps);
  return outcome_;
}

/// Steps of which it is sure that nothing but the decode itself happens.
std::int64_t SglangScheduler::certain_steps(Tokens last_context) {
  if (tells_ || !ghosts_.empty() || chunked_ != kNone || may_admit()) return 1;
  // When the results of a prefill are processed, at the end of this step, the tree may free what it holds already.
  if (overlap_ && memory_.caches() && !last_.prefill.empty()) return 1;
  const Tokens room = last_context - plan_.decode_context;
  const std::int64_t steps = std::min(decodes_.steps_to_first_end(), room / decodes_.size() + 1);
  // Results that are still to be processed move tokens from free to cached or back, or free some.
  return 1 + decodes_.steps_within(memory_.reachable() / args_.page_size, steps - 1);
}

void SglangScheduler::crash(Fault fault) {
  ++faults_[fault];
  crashed_ = true;
  batch_.kind = Kind::kCrash;
}

}  // namespace poolcast
