// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/ordered_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace poolcast {

/// The earliest row that is held, once no row to come may be earlier.
bool OrderedReader::next_sorted(TraceRow& row) {
  if (reorder_.value <= 0) return reader_->next(row);
  TraceRow incoming;
  while (!at_end_ && (held_.empty() || newest_ - held_.front().timestamp <= reorder_)) {
    at_end_ = !reader_->next(incoming);
    if (at_end_) break;
    newest_ = held_.empty() ? incoming.timestamp : std::max(newest_, incoming.timestamp);
    held_.push_back(std::move(incoming));
    std::push_heap(held_.begin(), held_.end(), Later{});
  }
  if (held_.empty()) return false;
  std::pop_heap(held_.begin(), held_.end(), Later{});
  row = std::move(held_.back());
  held_.pop_back();
  return true;
}

bool OrderedReader::next(TraceRow& row) {
  constexpr double kLongest = 9e9;  // s, near the end of the simulated clock
  while (next_sorted(row)) {
    if (!std::exchange(started_, true)) {
      last_ = row.timestamp;
      if (rebase_) first_ = row.timestamp;
    }
    if (row.timestamp < last_) {
      log_->bad_row(Oddity::kTimeBackwards, Place{row.line},
                    fmt::format("earlier than the row before by {:.9g} s; the key `reorder` puts rows in order",
                                (last_ - row.timestamp).value));
      continue;
    }
    if ((row.timestamp - first_).value > kLongest) {
      log_->bad_row(Oddity::kBadValue, Place{row.line}, "more than 285 years after the first row");
      continue;
    }
    if (row.think_time.value > kLongest) {
      log_->bad_row(Oddity::kBadValue, Place{row.line}, "the think time is more than 285 years");
      continue;
    }
    last_ = row.timestamp;
    row.timestamp -= first_;
    return true;
  }
  return false;
}

}  // namespace poolcast
