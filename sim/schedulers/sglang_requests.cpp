// SPDX-License-Identifier: Apache-2.0
// Requests come and go; what the scheduler tells of itself.
#include <algorithm>
#include <cmath>

#include "sim/schedulers/sglang.h"

namespace poolcast {
namespace {

/// Tokens that are like no other: positions that no content reaches.
constexpr std::int64_t kOwn = std::int64_t{1} << 62;
constexpr Tokens kEndless = std::int64_t{1} << 60;

}  // namespace

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
  job.id = id;
  job.prompt = s.prompt_tokens;
  job.priority = s.priority;
  job.ignore_eos = declared.ignore_eos;
  clip(job, declared.max_new);
  job.end = declared.ignore_eos ? job.max_new : std::min(s.end_tokens - s.prompt_tokens, job.max_new);
  if (job.rejected) job.prompt = job.end = 1;
  job.end = std::max<Tokens>(1, job.end);
  describe(job, table_.content(id));
  s.standing = Standing::kWaiting;
  s.previous = j;
  s.tokens = s.prompt_tokens = job.prompt;
  s.end_tokens = job.prompt + job.end;
  without_output_ += job.max_new == 0;
  ++live_;
  put_back(j);
}

/// init_req_max_new_tokens and validate_input_length: the output is cut to what fits, a prompt that is too long is cut
/// or rejected. What the output was cut to stays.
void SglangScheduler::clip(SglangJob& job, Tokens declared) const {
  const Tokens tokens = args_.max_total_num_tokens;
  const Tokens longest = std::min(args_.context_length, tokens) - 1;
  const Tokens paged = tokens - memory_.ceil(job.prompt) - args_.page_size - 1;
  job.max_new = std::max<Tokens>(0, std::min({declared, longest - job.prompt - 1, paged}));
  if (job.prompt < longest - 5) return;
  job.rejected = !args_.allow_auto_truncate;
  job.prompt = longest - 5;
}

/// What its tokens are. A rejected request has one token in place of its prompt, the same for all of them.
void SglangScheduler::describe(SglangJob& job, const Content& content) {
  const std::uint64_t own = own_ids_++;
  job.content.clear();
  Tokens left = job.prompt;
  if (job.rejected) {
    job.content.push_back({UINT64_MAX, kOwn, left});
    left = 0;
  }
  for (const Segment& segment : content.prompt) {
    if (left == 0) break;
    job.content.push_back({segment.id, segment.start, std::min(segment.tokens, left)});
    left -= job.content.back().tokens;
  }
  if (left > 0) job.content.push_back({own, kOwn, left});
  const bool quotable = content.output != 0 && !job.rejected;
  job.content.push_back({quotable ? content.output : own, quotable ? 0 : kOwn + job.prompt, kEndless});
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
  const Standing was = s.standing;
  --live_;
  if (was == Standing::kDecoding) {
    decodes_.leave(id);
    job.decoding = false;
    job.outputs = s.tokens - s.prompt_tokens;
    job.committed = s.computed;
  } else if (was == Standing::kWaiting) {
    // From the front: time-outs come about in the order of the queue.
    const auto at = std::find(waiting_.begin(), waiting_.end(), j);
    if (at != waiting_.end()) waiting_.erase(at);
    std::erase(lost_, j);
  }
  s.standing = Standing::kGone;
  if (crashed_) {
    job.finished = true;
    if (live_ == 0) reset();
  } else if (was == Standing::kDecoding) {
    finish_job(j);
  } else if (was == Standing::kWaiting) {
    forget(j);
  } else {
    abort_chunk(j);
  }
}

/// Drops a prompt that is partly prefilled.
void SglangScheduler::abort_chunk(Job j) {
  SglangJob& job = jobs_[j];
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
  reset();
  return ids;
}

/// As it was at the start, its counters excepted.
void SglangScheduler::reset() {
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
