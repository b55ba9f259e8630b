// SPDX-License-Identifier: Apache-2.0
// Prefill batches: get_new_batch_prefill and what it calls.
#include <algorithm>
#include <limits>

#include "sim/schedulers/sglang.h"

namespace poolcast {

/// Plans a prefill batch; false when there is none in this pass.
bool SglangScheduler::plan_prefill() {
  if (preempts_) full_ = false;
  if (full_ && running_.empty() && chunked_ == kNone && !waiting_.empty()) {
    ++faults_[kHung];  // nothing will ever clear the flag
    if (mended()) full_ = false;
  }
  if ((full_ || waiting_.empty()) && chunked_ == kNone) return false;
  if (room_in_batch() <= 0 && chunked_ == kNone && !preempts_) {
    full_ = true;
    return false;
  }
  policy_.sort(waiting_);
  start_adder();
  const Job continued = chunked_;
  Job goes_on = kNone;
  if (chunked_ != kNone && !add_chunk(goes_on)) return false;
  add_waiting();
  faults_[kAlone] += adder_.let_pass();
  batch_.prefill = adder_.batch();
  for (std::size_t i = continued != kNone; i < batch_.prefill.size(); ++i) waiting_.pop_front();
  put_back_preempted();
  if (batch_.prefill.empty()) return false;

  chunked_ = batch_.chunked = adder_.new_chunked().value_or(goes_on);
  if (chunked_ != kNone) ++jobs_[chunked_].middle_chunks;
  for (const Job j : batch_.prefill) {
    if (j != continued) admit(j);
  }
  batch_.kind = Kind::kPrefill;
  if (!take_prefill_memory()) {
    crash(kChunkShort);
  } else if (mixes()) {
    mix();
  }
  return true;
}

void SglangScheduler::start_adder() {
  preempted_.clear();
  for (const Job j : running_) jobs_[j].known = outputs_seen(j);
  adder_.start(running_, mixes() ? static_cast<Tokens>(running_.size()) : 0, ratio_);
  adder_.let_alone_pass(mended() && running_.empty() && chunked_ == kNone);
  if (watcher_) watcher_->adder_started(adder_);
}

/// Adds the next chunk of the prompt that is partly prefilled. False when no page is free for it: it has to wait, which
/// SGLang does not look for.
bool SglangScheduler::add_chunk(Job& goes_on) {
  SglangJob& job = jobs_[chunked_];
  job.filled = job.prompt + job.outputs;
  job.known = job.outputs;
  Tokens at_most = std::numeric_limits<Tokens>::max();
  if (mended()) {
    at_most = memory_.reachable() + memory_.ceil(job.prefix) - job.prefix;
    const Tokens wanted = std::min(job.filled - job.prefix, args_.chunked_prefill_size);
    faults_[kChunkShort] += at_most < wanted && at_most < *adder_.rem_chunk();
  }
  if (at_most <= 0 || *adder_.rem_chunk() <= 0) return false;
  const bool more = adder_.add_chunk(chunked_, at_most);
  if (watcher_) watcher_->chunk_added(job.id, more, adder_);
  if (more) goes_on = chunked_;
  return true;
}

/// Tries the waiting requests in order; the first one that is refused ends it.
void SglangScheduler::add_waiting() {
  for (const Job j : waiting_) {
    SglangJob& job = jobs_[j];
    if (static_cast<std::int64_t>(adder_.batch().size()) >= room_in_batch()) full_ = true;
    if (full_ && !(preempts_ && preempt_for(job))) break;
    next_round(job);
    const SglangAdder::Result result = adder_.add(j);
    if (watcher_) watcher_->tried(job.id, result, adder_);
    if (result == SglangAdder::Result::kNoToken) full_ = true;
    if (result != SglangAdder::Result::kContinue) break;
  }
}

/// init_next_round_input: at least one token is left to compute.
void SglangScheduler::next_round(SglangJob& job) {
  job.filled = job.prompt + job.outputs;
  job.known = job.outputs;
  memory_.find(job, job.filled - 1);
}

/// preempt_to_schedule: takes slots (and what they reserve) from running requests that are less urgent by more than the
/// threshold, the least urgent and newest first.
bool SglangScheduler::preempt_for(const SglangJob& job) {
  const std::int64_t sign = args_.schedule_low_priority_values_first ? 1 : -1;
  order_.clear();
  for (const Job j : running_) {
    if (!jobs_[j].finished) order_.push_back(j);
  }
  std::stable_sort(order_.begin(), order_.end(), [&](Job a, Job b) {
    const std::int64_t x = -sign * jobs_[a].priority, y = -sign * jobs_[b].priority;
    return x != y ? x < y : jobs_[a].entry > jobs_[b].entry;
  });
  // A request that was never tried has no length yet: its prompt does not count.
  const Tokens wanted = job.filled - job.prefix + std::min(job.max_new, args_.clip_max_new_tokens);
  double missing = static_cast<double>(wanted) - adder_.rem_total();
  std::size_t taken = 0;
  while (taken < order_.size()) {
    const SglangJob& candidate = jobs_[order_[taken]];
    const std::int64_t lead = -sign * (std::int64_t{job.priority} - candidate.priority);
    if (lead <= args_.priority_scheduling_preemption_threshold) break;
    ++taken;
    missing -= adder_.reserve(candidate);
    if (missing <= 0) break;
  }
  if (taken == 0 || missing > 0) return false;
  order_.resize(taken);
  auto left = static_cast<std::int64_t>(running_.size());
  std::erase_if(running_, [&](Job j) {
    if (std::find(order_.begin(), order_.end(), j) == order_.end()) return false;
    adder_.forget(jobs_[j]);
    release(j, --left);
    preempted_.push_back(j);
    return true;
  });
  return true;
}

/// Preempted requests wait again - unless the newcomer was refused all the same: then SGLang returns too early.
void SglangScheduler::put_back_preempted() {
  const bool empty = adder_.batch().empty();
  if (empty) faults_[kLost] += static_cast<std::int64_t>(preempted_.size());
  if (watcher_ && preempted_.size() > 1) {
    std::vector<RequestId> ids;
    for (const Job j : preempted_) ids.push_back(jobs_[j].id);
    watcher_->order_preempted(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) preempted_[i] = table_.state(ids[i]).previous;
  }
  for (const Job j : preempted_) {
    if (empty && !mended()) {
      lost_.push_back(j);
    } else {
      put_back(j);
    }
  }
  preempted_.clear();
}

void SglangScheduler::admit(Job j) {
  SglangJob& job = jobs_[j];
  SchedulerState& s = table_.state(job.id);
  const bool resumed = s.preemptions > 0;
  if (memory_.caches()) stats_.count(job.filled, job.prefix, resumed);
  if (resumed) {
    const Tokens again = std::max<Tokens>(0, s.lost - job.prefix);
    s.recomputed += again;
    plan_.recomputed += again;
  } else {
    table_.record(job.id).cached_tokens = job.prefix;
  }
  s.cached += job.prefix;
  s.computed = job.prefix;
  s.standing = Standing::kPrefilling;
  s.admission = table_.next_admission();
  job.retracted = false;
  ++slots_held_;
  plan_.admitted.push_back(job.id);
}

bool SglangScheduler::take_prefill_memory() {
  Tokens sum = 0, pages = 0;
  for (const Job j : batch_.prefill) {
    SglangJob& job = jobs_[j];
    job.extend_end = job.committed = job.prefix + job.extend;
    if (j != batch_.chunked) job.prefilled = passes_;
    sum += job.extend;
    pages += memory_.ceil(job.extend_end) - memory_.ceil(job.prefix);
  }
  const Tokens page = args_.page_size;
  memory_.make_room(page == 1 ? sum : sum + static_cast<Tokens>(batch_.prefill.size()) * page);
  return memory_.take(pages);
}

/// Mixed chunks: the running requests decode in the prefill batch. SGLang does not ask whether there is memory for
/// that.
void SglangScheduler::mix() {
  filter_finished();
  if (running_.empty()) return;
  if (mended() && pages_to_open() * args_.page_size > memory_.reachable()) {
    ++faults_[kMixedShort];
    return;
  }
  if (!take_decode_memory()) return crash(kMixedShort);
  batch_.kind = Kind::kMixed;
  batch_.decode.swap(running_);
}

}  // namespace poolcast
