// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/sglang.h"

#include <algorithm>
#include <cmath>

namespace poolcast {
namespace {

/// Tokens that are like no other: positions that no content reaches.
constexpr std::int64_t kOwn = std::int64_t{1} << 62;
constexpr Tokens kEndless = std::int64_t{1} << 60;

}  // namespace

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

// ---------------------------------------------------------------- requests come and go

void SglangScheduler::enqueue(RequestId id) {
  const SchedulerState& s = table_.state(id);
  const Tokens output = s.end_tokens - s.prompt_tokens;
  const double declared = std::ceil(static_cast<double>(output) * args_.declared_output_factor);
  enqueue(id, {std::max(output, static_cast<Tokens>(declared)), false});
}

void SglangScheduler::enqueue(RequestId id, const Declared& declared) {
  const Job j = jobs_.create();
  SglangJob& job = jobs_[j];
  SchedulerState& s = table_.state(id);
  s.standing = Standing::kWaiting;
  s.previous = j;
  job.id = id;
  job.prompt = s.prompt_tokens;
  job.priority = s.priority;
  job.ignore_eos = declared.ignore_eos;
  const Tokens longest = std::min(args_.context_length - 1, args_.max_total_num_tokens - 1);
  job.max_new =
      std::max<Tokens>(0, std::min({declared.max_new, longest - job.prompt - 1,
                                    args_.max_total_num_tokens - memory_.ceil(job.prompt) - args_.page_size - 1}));
  const Tokens output = s.end_tokens - s.prompt_tokens;
  job.end = std::max<Tokens>(1, declared.ignore_eos ? job.max_new : std::min(output, job.max_new));

  const bool too_long = job.prompt >= longest - 5;
  if (too_long && args_.allow_auto_truncate) job.prompt = longest - 5;
  const Content& content = table_.content(id);
  const std::uint64_t own = own_ids_++;
  job.content.clear();
  Tokens left = job.prompt;
  for (const Segment& segment : content.prompt) {
    if (left == 0) break;
    job.content.push_back({segment.id, segment.start, std::min(segment.tokens, left)});
    left -= job.content.back().tokens;
  }
  if (left > 0) job.content.push_back({own, kOwn, left});
  const Segment outputs{content.output, 0, kEndless};
  job.content.push_back(content.output != 0 ? outputs : Segment{own, kOwn + job.prompt, kEndless});
  if (too_long && !args_.allow_auto_truncate) {  // rejected: one token in its place, which ends as aborted
    job.rejected = true;
    job.prompt = job.end = 1;
    job.content = {{UINT64_MAX, kOwn, 1}, {own, kOwn + 1, kEndless}};
  }
  s.tokens = s.prompt_tokens = job.prompt;
  s.end_tokens = job.prompt + job.end;
  without_output_ += job.max_new == 0;
  ++live_;
  put_back(j);
}

/// To the end of the waiting queue.
void SglangScheduler::put_back(Job j) {
  jobs_[j].entry = entries_++;
  waiting_.push_back(j);
}

void SglangScheduler::forget(Job j) {
  finished_held_ -= jobs_[j].finished;
  without_output_ -= jobs_[j].max_new == 0;
  jobs_.give_back(j);
}

void SglangScheduler::abort(RequestId id) {
  SchedulerState& s = table_.state(id);
  const Job j = s.previous;
  SglangJob& job = jobs_[j];
  --live_;
  const bool decoding = s.standing == Standing::kDecoding;
  if (decoding) {
    decodes_.leave(id);
    job.decoding = false;
    job.outputs = s.tokens - s.prompt_tokens;
    job.committed = s.computed;
  }
  const bool held = s.standing != Standing::kWaiting;
  s.standing = Standing::kGone;
  if (decoding) return finish_job(j);
  if (!held) {
    std::erase(waiting_, j);
    std::erase(lost_, j);
    return forget(j);
  }
  // Its prompt is partly prefilled.
  memory_.release(job);
  --slots_held_;
  chunked_ = kNone;
  job.middle_chunks = 0;
  job.finished = true;
  ++finished_held_;
  if (std::find(last_.prefill.begin(), last_.prefill.end(), j) == last_.prefill.end()) forget(j);
}

std::vector<RequestId> SglangScheduler::take_all() {
  std::vector<Job> held = running_;
  for (const Batch* batch : {&last_, &batch_}) {
    if (batch->kind == Kind::kIdle) continue;
    held.insert(held.end(), batch->prefill.begin(), batch->prefill.end());
    held.insert(held.end(), batch->decode.begin(), batch->decode.end());
  }
  if (chunked_ != kNone) held.push_back(chunked_);
  held.insert(held.end(), waiting_.begin(), waiting_.end());
  held.insert(held.end(), lost_.begin(), lost_.end());
  std::vector<RequestId> ids;
  for (const Job j : held) {
    SglangJob& job = jobs_[j];
    if (job.ended || job.finished) continue;
    if (job.decoding) decodes_.leave(job.id);
    table_.state(job.id).standing = Standing::kGone;
    job.decoding = false;
    job.finished = true;
    ids.push_back(job.id);
  }
  jobs_ = {};
  memory_ = SglangMemory(args_);
  running_.clear();
  waiting_.clear();
  lost_.clear();
  ghosts_.clear();
  last_.clear();
  batch_.clear();
  chunked_ = kNone;
  full_ = crashed_ = false;
  slots_held_ = live_ = finished_held_ = without_output_ = 0;
  return ids;
}

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

/// Outputs of a running request as far as their results have been processed.
Tokens SglangScheduler::outputs_seen(Job j) const {
  const SglangJob& job = jobs_[j];
  if (job.finished) return job.outputs;
  const Tokens produced = job.decoding ? decodes_.tokens(job.id) - job.prompt : job.outputs;
  if (!overlap_ || last_.kind == Kind::kIdle) return produced;
  return last_.kind != Kind::kPrefill || job.prefilled == last_.pass ? produced - 1 : produced;
}

/// Tokens of a running request that have a KV slot.
Tokens SglangScheduler::stored(Job j) const {
  const SglangJob& job = jobs_[j];
  return job.decoding ? decodes_.tokens(job.id) - 1 : job.committed;
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
  if (!ghosts_.empty() || chunked_ != kNone || may_admit()) return 1;
  const Tokens room = last_context - plan_.decode_context;
  const std::int64_t steps = std::min(decodes_.steps_to_first_end(), room / decodes_.size() + 1);
  // Results that are still to be processed move tokens from free to cached or back, or free some.
  return 1 + decodes_.steps_within(memory_.reachable() / args_.page_size, steps - 1);
}

// ---------------------------------------------------------------- for the reader

void SglangScheduler::crash(Fault fault) {
  ++faults_[fault];
  crashed_ = true;
  batch_.kind = Kind::kCrash;
}

std::vector<Departure> SglangScheduler::departures() const {
  static constexpr const char* kWhat[kFaults][2] = {
      {"preempted requests that SGLang loses were put back into the queue",
       "preempted requests were lost, as in SGLang"},
      {"times a queue was tried again with nothing running, where SGLang's hangs",
       "times a queue hung with nothing running, as SGLang's does"},
      {"requests were admitted alone past a reserve that SGLang never grants", ""},
      {"mixed batches went without their decodes for want of memory, where SGLang's process ends",
       "replicas ended for want of memory for the decodes of a batch, as SGLang's process does"},
      {"chunks of a prompt shrank or waited for want of memory, where SGLang's process ends",
       "replicas ended for want of memory for a prefill, as SGLang's process does"},
  };
  std::vector<Departure> departures;
  for (int fault = 0; fault < kFaults; ++fault) {
    if (faults_[fault] > 0) departures.push_back({kWhat[fault][mended() ? 0 : 1], faults_[fault]});
  }
  return departures;
}

std::vector<RequestId> SglangScheduler::running_batch() const {
  std::vector<RequestId> ids;
  for (const Job j : running_) ids.push_back(jobs_[j].id);
  return ids;
}

std::vector<RequestId> SglangScheduler::waiting_queue() const {
  std::vector<RequestId> ids;
  for (const Job j : waiting_) ids.push_back(jobs_[j].id);
  return ids;
}

}  // namespace poolcast
