// SPDX-License-Identifier: Apache-2.0
// Decode batches: update_running_batch, retract_decode and the memory of a decode step.
#include <algorithm>

#include "sim/schedulers/sglang.h"

namespace poolcast {

void SglangScheduler::plan_decode() {
  if (running_.empty()) return;
  const std::size_t before = running_.size();
  filter_finished();
  if (!running_.empty()) {
    const Tokens need = pages_to_open() * args_.page_size;
    memory_.make_room(need);
    if (memory_.available() >= need) {
      decay();
    } else {
      retract();
    }
  }
  if (running_.size() < before) full_ = false;
  if (running_.empty() || crashed_) return;
  batch_.kind = Kind::kDecode;
  if (!take_decode_memory()) crash(kMixedShort);
}

/// Pages that the next decode step of the running batch opens.
Tokens SglangScheduler::pages_to_open() const {
  if (literal_) return pages_to_open(running_);
  return (decodes_.size() > 0 ? decodes_.new_blocks(0) : 0) + pages_to_open(ghosts_);
}

Tokens SglangScheduler::pages_to_open(const std::vector<Job>& jobs) const {
  return std::count_if(jobs.begin(), jobs.end(), [this](Job j) { return stored(j) % args_.page_size == 0; });
}

/// Memory for one more token of every running request.
bool SglangScheduler::take_decode_memory() {
  const Tokens pages = pages_to_open();
  memory_.make_room(static_cast<Tokens>(running_.size()) * args_.page_size);
  if (!memory_.take(pages * args_.page_size)) return false;
  for (const Job j : ghosts_) ++jobs_[j].committed;
  return true;
}

void SglangScheduler::decay() { ratio_ = std::max(ratio_ - ratio_decay_, min_ratio_); }

/// Memory and ratio of `steps` more decode steps of the same requests, whose memory is known to suffice.
void SglangScheduler::repeat_decode(std::int64_t steps) {
  const Tokens page = args_.page_size;
  for (std::int64_t i = 0; i < steps && ratio_ > min_ratio_; ++i) decay();
  const DecodeSet::BlockRun run = decodes_.open_blocks(steps);
  outcome_.block_steps += steps * memory_.used() + page * run.increment;
  const Tokens headroom = decodes_.size() * page;
  if (memory_.available() - page * run.opened >= headroom) {
    memory_.take(page * run.opened);
  } else {
    for (std::int64_t i = 1; i <= steps; ++i) {
      const Tokens need = page * decodes_.new_blocks(i);
      memory_.make_room(need);
      memory_.make_room(headroom);
      memory_.take(need);
    }
  }
  outcome_.blocks_used = std::max(outcome_.blocks_used, memory_.used());
}

// ---------------------------------------------------------------- retraction

/// Sends running requests back to the queue until the others have memory for a step: those with the fewest outputs
/// first, then those with the longest prompts, then the last in the batch. The batch stays in that order.
void SglangScheduler::retract() {
  const std::int64_t sign = args_.schedule_low_priority_values_first ? 1 : -1;
  const bool urgent_last = args_.retraction_policy == SglangArgs::Retraction::kPriority;
  for (const Job j : running_) jobs_[j].known = outputs_seen(j);
  order_ = running_;
  std::stable_sort(order_.begin(), order_.end(), [&](Job a, Job b) {
    const SglangJob &x = jobs_[a], &y = jobs_[b];
    if (urgent_last && x.priority != y.priority) return -sign * x.priority > -sign * y.priority;
    return x.known != y.known ? x.known > y.known : x.prompt < y.prompt;
  });
  const auto short_of_memory = [this] {
    const Tokens need = pages_to_open(order_) * args_.page_size;
    memory_.make_room(need);
    return memory_.available() < need;
  };
  preempted_.clear();
  for (bool first = true; (first || short_of_memory()) && order_.size() > 1; first = false) {
    preempted_.push_back(order_.back());
    order_.pop_back();
    release(preempted_.back(), static_cast<std::int64_t>(order_.size()));
  }
  running_ = order_;
  // A request that is alone fits, because its length was clipped on arrival; only half a prompt can be in its way.
  if (order_.size() == 1 && short_of_memory() && !(retract_chunk() && !short_of_memory())) return crash(kMixedShort);

  Tokens seen = 0, most = 0;
  for (const Job j : running_) {
    seen += jobs_[j].known;
    most += jobs_[j].max_new;
  }
  const Tokens ahead = args_.retract_decode_steps * static_cast<Tokens>(running_.size());
  ratio_ = std::min(1.0, static_cast<double>(seen + ahead) / static_cast<double>(most + 1));
  for (const Job j : preempted_) put_back(j);
  preempted_.clear();
}

/// Takes a running request out of its batch: what the tree does not hold is lost, and so is a token under way.
void SglangScheduler::release(Job j, std::int64_t left) {
  SglangJob& job = jobs_[j];
  SchedulerState& s = table_.state(job.id);
  const Tokens seen = outputs_seen(j);
  if (job.decoding) {
    decodes_.leave(job.id);
    job.decoding = false;
    job.committed = s.computed;
  } else {  // it has ended, but nobody knows
    std::erase(ghosts_, j);
    job.ended = false;
    ++live_;
  }
  memory_.release(job);
  memory_.make_room(args_.retract_decode_steps * left);
  --slots_held_;
  job.outputs = job.known = seen;
  job.retracted = true;
  plan_.preempted.push_back({job.id, true, s.computed, s.tokens > s.prompt_tokens + seen});
  s.tokens = s.prompt_tokens + seen;
  s.dropped += s.computed;
  s.lost = static_cast<std::int32_t>(s.computed);
  s.computed = 0;
  s.standing = Standing::kWaiting;
  ++s.preemptions;
}

/// The same for a prompt that is partly prefilled (mended only: it can be in the way when chunks had to wait).
bool SglangScheduler::retract_chunk() {
  if (chunked_ == kNone || !mended()) return false;
  const Job j = chunked_;
  SglangJob& job = jobs_[j];
  SchedulerState& s = table_.state(job.id);
  chunked_ = kNone;
  memory_.release(job);
  --slots_held_;
  job.retracted = true;
  job.middle_chunks = 0;
  plan_.preempted.push_back({job.id, false, s.computed});
  s.dropped += s.computed;
  s.lost = static_cast<std::int32_t>(s.computed);
  s.computed = 0;
  s.standing = Standing::kWaiting;
  ++s.preemptions;
  put_back(j);
  return true;
}

}  // namespace poolcast
