// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/sglang_adder.h"

#include <algorithm>

namespace poolcast {
namespace {

double real(Tokens n) { return static_cast<double>(n); }

}  // namespace

void SglangAdder::start(const std::vector<Job>& running, Tokens mixed, double ratio) {
  running_ = &running;
  ratio_ = ratio;
  double reserved = 0;
  for (const Job j : running) reserved += reserve(jobs_[j]);
  off_total_ = real(mixed) + reserved;
  off_cur_ = mixed;
  rem_input_ = args_.max_prefill_tokens - mixed;
  rem_chunk_.reset();
  if (args_.chunked_prefill_size > 0) rem_chunk_ = args_.chunked_prefill_size - mixed;
  new_chunked_.reset();
  batch_.clear();
  ahead_known_ = false;
  let_alone_pass_ = let_pass_ = false;
}

SglangAdder::Result SglangAdder::budget() const {
  if (rem_total() <= 0 || rem_cur() <= 0) return Result::kNoToken;
  if (rem_input_ <= 0 || (rem_chunk_ && *rem_chunk_ <= 0)) return Result::kOther;
  return Result::kContinue;
}

void SglangAdder::charge(Tokens tokens, Tokens fresh) {
  const Tokens whole = memory_.ceil(tokens);
  off_total_ += real(whole + fresh + args_.page_size);
  off_cur_ += whole + args_.page_size;
  rem_input_ -= whole;
  if (rem_chunk_) *rem_chunk_ -= whole;
}

void SglangAdder::admit(Job j, Tokens tokens) {
  SglangJob& job = jobs_[j];
  job.extend = tokens;
  batch_.push_back(j);
}

bool SglangAdder::add_chunk(Job j, Tokens at_most) {
  SglangJob& job = jobs_[j];
  Tokens room = std::min(*rem_chunk_, static_cast<Tokens>(rem_total()));
  if (room <= 0) room = *rem_chunk_;
  room = std::min(room, at_most);
  const Tokens extend = job.filled - job.prefix;
  admit(j, std::min(extend, room));
  const bool more = extend > room;
  charge(job.extend, more ? 0 : std::min(job.max_new, args_.clip_max_new_tokens));
  return more;
}

bool SglangAdder::short_of(double total, Tokens extend) {
  if (total < rem_total()) return false;
  const bool alone = let_alone_pass_ && batch_.empty() && memory_.ceil(extend) <= memory_.reachable();
  let_pass_ |= alone;
  return !alone;
}

SglangAdder::Result SglangAdder::add(Job j) {
  SglangJob& job = jobs_[j];
  if (static_cast<std::int64_t>(batch_.size()) >= args_.prefill_max_requests) return Result::kOther;
  if (job.ignore_eos && !memory_.caches()) return add_by_ends(j);
  const Tokens extend = job.filled - job.prefix;
  const Tokens whole = memory_.ceil(extend);
  const Tokens to_come = std::min(std::max<Tokens>(job.max_new - job.outputs, 0), args_.clip_max_new_tokens);
  const double total = real(extend + to_come + args_.page_size);
  if (short_of(total, extend)) return Result::kNoToken;
  if (!rem_chunk_ && !batch_.empty() && whole >= rem_input_) return Result::kOther;

  RadixCache& tree = memory_.tree();
  tree.lock(job.matched);  // what it found is not evictable any more; kept if it is admitted
  Result refused = Result::kContinue;
  Tokens part = extend;
  if (short_of(total, extend)) {
    refused = Result::kNoToken;
  } else if (!rem_chunk_ && !batch_.empty() && whole >= rem_input_) {
    refused = Result::kOther;
  } else if (rem_chunk_ && whole > *rem_chunk_) {
    const Tokens page = args_.page_size;
    part = *rem_chunk_ < page ? 0 : (*rem_chunk_ / page * page + job.prefix) / page * page - job.prefix;
    if (part <= 0) refused = Result::kOther;
  }
  if (refused != Result::kContinue) {
    tree.unlock(job.matched);
    return refused;
  }
  job.node = job.matched;
  admit(j, part);
  if (part < extend) new_chunked_ = j;
  charge(part, part < extend ? 0 : std::min(job.max_new, args_.clip_max_new_tokens));
  return budget();
}

// ---------------------------------------------------------------- ignore_eos without a tree

/// Ends are certain when a request ignores the end-of-sequence token: looks whether memory lasts until each of them.
SglangAdder::Result SglangAdder::add_by_ends(Job j) {
  SglangJob& job = jobs_[j];
  const Tokens extend = job.filled - job.prefix;
  const bool fits = real(memory_.ceil(extend)) <= std::min(real(rem_cur()), rem_total());
  if (!(fits && ends_in_time(j)) && short_of(1e300, extend)) return Result::kNoToken;
  if (!rem_chunk_ || extend <= *rem_chunk_) {
    admit(j, extend);
    charge(memory_.ceil(extend), std::min(job.max_new, args_.clip_max_new_tokens));
  } else {
    if (*rem_chunk_ <= 0) return Result::kOther;
    admit(j, *rem_chunk_);
    new_chunked_ = j;
    charge(*rem_chunk_, 0);
  }
  return budget();
}

void SglangAdder::note_ahead(const SglangJob& job, bool in_order) {
  const double share = job.ignore_eos ? 1.0 : ratio_;
  const double left = real(job.max_new) * share - real(job.known);
  if (left <= 0) return;
  const Ahead ahead{left, real(job.prompt + job.known)};
  if (!in_order) {
    ahead_.push_back(ahead);
    return;
  }
  // The last place is never passed, even by a request that ends later than all: so does the loop variable there.
  std::size_t at = 0;
  while (at + 1 < ahead_.size() && left > ahead_[at].left) ++at;
  ahead_.insert(ahead_.begin() + static_cast<std::ptrdiff_t>(at), ahead);
}

bool SglangAdder::ends_in_time(Job j) {
  if (!ahead_known_) {
    ahead_known_ = true;
    ahead_.clear();
    note_ahead(jobs_[j], false);
    for (const Job r : *running_) note_ahead(jobs_[r], false);
    for (const Job r : batch_) note_ahead(jobs_[r], false);
    std::stable_sort(ahead_.begin(), ahead_.end(), [](const Ahead& a, const Ahead& b) { return a.left < b.left; });
  } else {
    note_ahead(jobs_[j], true);
  }
  const double now = real(rem_cur() - memory_.ceil(jobs_[j].filled - jobs_[j].prefix));
  double freed = 0;
  for (std::size_t i = 0; i < ahead_.size(); ++i) {
    const double together = real(static_cast<Tokens>(ahead_.size() - i));
    if (now + freed - ahead_[i].left * together <= together) return false;
    freed += ahead_[i].occupied;
  }
  return true;
}

}  // namespace poolcast
