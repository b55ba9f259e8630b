// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/request_table.h"

namespace poolcast {

/// The decoding requests of a replica, as a whole: what makes a leap cheap.
///
/// Every decoding request gains one token per step, so none is touched while nothing else changes. A clock counts the
/// steps; a request keeps the difference `tokens_base` between its length and the clock. Completions sit in a heap by
/// the clock at which they fall; the blocks that a step allocates come from a histogram of lengths modulo block size:
/// a request opens a block in the step that finds its KV length at a multiple of the block size.
class DecodeSet {
 public:
  DecodeSet(std::int64_t block_size, RequestTable& table, std::size_t groups);

  std::int64_t size() const { return size_; }
  /// Sum of the sequence lengths: the context of the next step, its new tokens included.
  std::int64_t context() const { return base_sum_ + size_ * clock_; }
  std::int64_t tokens(RequestId id) const { return table_.state(id).tokens_base + clock_; }
  const std::vector<std::int64_t>& by_group() const { return by_group_; }
  /// Largest admission ordinal of any member since the set was last empty: no member is younger.
  std::uint64_t youngest() const { return youngest_; }
  /// Changes whenever a request joins, leaves or is held back.
  std::uint64_t version() const { return version_; }
  /// Makes the version a new one although no member changed.
  void renew() { ++version_; }

  /// Takes in a request whose `tokens` counts the token that it has just produced.
  void join(RequestId id);
  /// Removes one before its time; its `tokens` and `computed` are brought up to date.
  void leave(RequestId id);
  /// Marks that a member got no token in the step that is about to be counted by `advance`.
  void hold_back(RequestId id);

  /// Blocks opened in the step `ahead` steps from the next one (0 = the next).
  std::int64_t new_blocks(std::int64_t ahead) const {
    const std::int64_t phase = (1 - clock_ - ahead) % block_size_;
    return by_phase_[static_cast<std::size_t>(phase < 0 ? phase + block_size_ : phase)];
  }
  /// Steps after the next one for which `free` blocks suffice, at most `wanted`.
  std::int64_t steps_within(std::int64_t free, std::int64_t wanted) const;
  struct BlockRun {
    std::int64_t opened = 0;     ///< blocks opened in those steps
    std::int64_t increment = 0;  ///< sum over those steps of the blocks opened so far
  };
  /// The `steps` steps after the next one.
  BlockRun open_blocks(std::int64_t steps) const;

  /// Steps until the first member ends, the step of its end included; at least 1. Only when not empty.
  std::int64_t steps_to_first_end();
  void advance(std::int64_t steps) { clock_ += steps; }
  /// Removes the members that have ended by now and appends them to `ended`, by (end, admission).
  void take_ended(std::vector<RequestId>& ended);

 private:
  struct End {
    std::int64_t clock;
    std::uint64_t admission;
    RequestId id;
  };
  static bool later(const End& a, const End& b) {
    return a.clock != b.clock ? a.clock > b.clock : a.admission > b.admission;
  }
  bool stale(const End& e) const;
  void push_end(RequestId id);
  void pop_end();
  void drop_stale();
  std::int64_t& phase_of(const SchedulerState& s);
  void forget(const SchedulerState& s);

  std::int64_t block_size_;
  RequestTable& table_;
  std::int64_t clock_ = 0;
  std::int64_t size_ = 0;
  std::int64_t base_sum_ = 0;
  std::uint64_t youngest_ = 0;
  std::uint64_t version_ = 0;
  std::vector<std::int64_t> by_phase_;
  std::vector<std::int64_t> by_group_;
  std::vector<End> ends_;
};

}  // namespace poolcast
