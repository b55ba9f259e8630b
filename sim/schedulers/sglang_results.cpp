// SPDX-License-Identifier: Apache-2.0
// What a batch brings: its tokens at once (`produce`), their consequences when the scheduler sees them (`process`).
#include <algorithm>

#include "sim/schedulers/sglang.h"

namespace poolcast {

void SglangScheduler::produce(std::int64_t steps) {
  for (const RequestId id : plan_.starved) table_.state(id).starved = false;
  const bool decodes = batch_.kind == Kind::kDecode || batch_.kind == Kind::kMixed;
  std::vector<RequestId>& ended = decoded_;
  ended.clear();
  if (decodes) {
    decodes_.advance(steps);
    decodes_.take_ended(ended);
  }
  produce_prefilled();
  for (const RequestId id : ended) {
    const SchedulerState& s = table_.state(id);
    SglangJob& job = jobs_[s.previous];
    job.decoding = false;
    job.outputs = job.end;
    job.committed = s.computed;
    batch_.ended.push_back(s.previous);
  }
  if (ended.size() > 1) sort_by_place(batch_.ended, batch_.kind == Kind::kDecode ? running_ : batch_.decode);
  for (const Job j : batch_.ended) note_end(j);
}

void SglangScheduler::produce_prefilled() {
  for (const Job j : batch_.prefill) {
    SglangJob& job = jobs_[j];
    SchedulerState& s = table_.state(job.id);
    s.computed = job.extend_end;
    if (j == batch_.chunked) continue;
    ++job.outputs;
    ++s.tokens;
    outcome_.prefilled.push_back(job.id);
    if (job.outputs >= job.end) {
      s.standing = Standing::kGone;
      note_end(j);
    } else {
      decodes_.join(job.id);
      job.decoding = true;
    }
  }
}

/// The last token of a request came; under the overlap loop nobody knows yet.
void SglangScheduler::note_end(Job j) {
  jobs_[j].ended = true;
  --live_;
  outcome_.ended.push_back(jobs_[j].id);
  if (overlap_) ghosts_.push_back(j);
}

/// Sorts the few `jobs` as they stand in `order`.
void SglangScheduler::sort_by_place(std::vector<Job>& jobs, const std::vector<Job>& order) {
  std::size_t placed = 0;
  for (std::size_t i = 0; i < order.size() && placed < jobs.size(); ++i) {
    const auto from = jobs.begin() + static_cast<std::ptrdiff_t>(placed);
    const auto at = std::find(from, jobs.end(), order[i]);
    if (at == jobs.end()) continue;
    std::iter_swap(from, at);
    ++placed;
  }
}

/// process_batch_result: finished requests give their memory back, prefilled prompts go into the tree.
void SglangScheduler::process(const Batch& batch) {
  for (const Job j : batch.prefill) {
    SglangJob& job = jobs_[j];
    if (job.retracted || (job.finished && job.middle_chunks <= 0)) continue;
    if (job.middle_chunks > 0) {
      --job.middle_chunks;
    } else if (job.ended) {
      finish_job(j);
    } else {
      memory_.stash(job, false);
    }
  }
  for (const Job j : batch.ended) {
    if (!jobs_[j].retracted && !jobs_[j].finished) finish_job(j);
  }
  ghosts_.clear();
}

void SglangScheduler::finish_job(Job j) {
  SglangJob& job = jobs_[j];
  memory_.finish(job);
  --slots_held_;
  job.finished = true;
  ++finished_held_;
  if (!watcher_) return;
  using Finish = SglangWatcher::Finish;
  watcher_->finished(job.id, job.rejected                 ? Finish::kAbort
                             : job.outputs >= job.max_new ? Finish::kLength
                                                          : Finish::kStop);
}

}  // namespace poolcast
