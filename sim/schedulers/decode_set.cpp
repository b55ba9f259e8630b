// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/decode_set.h"

#include <algorithm>

namespace poolcast {

DecodeSet::DecodeSet(std::int64_t block_size, RequestTable& table, std::size_t groups)
    : block_size_(block_size), table_(table), by_phase_(static_cast<std::size_t>(block_size)), by_group_(groups) {}

std::int64_t& DecodeSet::phase_of(const SchedulerState& s) {
  const std::int64_t phase = s.tokens_base % block_size_;
  return by_phase_[static_cast<std::size_t>(phase < 0 ? phase + block_size_ : phase)];
}

void DecodeSet::join(RequestId id) {
  SchedulerState& s = table_.state(id);
  s.standing = Standing::kDecoding;
  s.tokens_base = s.tokens - clock_;
  s.finish_clock = s.end_tokens - s.tokens_base;
  s.starved = false;
  ++phase_of(s);
  ++by_group_[s.group];
  youngest_ = size_ == 0 ? s.admission : std::max(youngest_, s.admission);
  ++size_;
  base_sum_ += s.tokens_base;
  ++version_;
  push_end(id);
}

void DecodeSet::forget(const SchedulerState& s) {
  --phase_of(s);
  --by_group_[s.group];
  --size_;
  base_sum_ -= s.tokens_base;
  ++version_;
}

void DecodeSet::leave(RequestId id) {
  SchedulerState& s = table_.state(id);
  forget(s);
  s.tokens = s.tokens_base + clock_;
  s.computed = s.tokens - 1;
  s.standing = Standing::kGone;
}

void DecodeSet::hold_back(RequestId id) {
  SchedulerState& s = table_.state(id);
  --phase_of(s);
  --s.tokens_base;
  ++s.finish_clock;
  ++phase_of(s);
  --base_sum_;
  ++version_;
  push_end(id);
}

std::int64_t DecodeSet::steps_within(std::int64_t free, std::int64_t wanted) const {
  // A stretch of block_size steps opens one block per member.
  const std::int64_t stretches = free / size_;
  std::int64_t steps = stretches * block_size_;
  if (steps >= wanted) return wanted;
  std::int64_t left = free - stretches * size_;
  while (steps < wanted && (left -= new_blocks(steps + 1)) >= 0) ++steps;
  return steps;
}

DecodeSet::BlockRun DecodeSet::open_blocks(std::int64_t steps) const {
  BlockRun run;
  for (std::int64_t first = 1; first <= std::min(steps, block_size_); ++first) {
    const std::int64_t blocks = new_blocks(first);
    if (blocks == 0) continue;
    // Opened in steps first, first + block_size, …; each counts from its step to the last.
    const std::int64_t times = (steps - first) / block_size_ + 1;
    run.opened += blocks * times;
    run.increment += blocks * (times * (steps - first + 1) - block_size_ * (times * (times - 1) / 2));
  }
  return run;
}

std::int64_t DecodeSet::steps_to_first_end() {
  drop_stale();
  return ends_.front().clock - clock_;
}

void DecodeSet::take_ended(std::vector<RequestId>& ended) {
  drop_stale();
  while (!ends_.empty() && ends_.front().clock <= clock_) {
    const RequestId id = ends_.front().id;
    pop_end();
    leave(id);
    ended.push_back(id);
    drop_stale();
  }
}

bool DecodeSet::stale(const End& e) const {
  const SchedulerState& s = table_.state(e.id);
  return s.standing != Standing::kDecoding || s.admission != e.admission || s.finish_clock != e.clock;
}

void DecodeSet::push_end(RequestId id) {
  const SchedulerState& s = table_.state(id);
  ends_.push_back({s.finish_clock, s.admission, id});
  std::push_heap(ends_.begin(), ends_.end(), later);
}

void DecodeSet::pop_end() {
  std::pop_heap(ends_.begin(), ends_.end(), later);
  ends_.pop_back();
}

void DecodeSet::drop_stale() {
  while (!ends_.empty() && stale(ends_.front())) pop_end();
}

}  // namespace poolcast
