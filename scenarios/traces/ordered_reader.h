// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "scenarios/traces/trace.h"
#include "scenarios/traces/trace_log.h"

namespace poolcast {

/// Makes what a reader yields a trace: times that never go back, counted from the first row (if `rebase`). A row may be
/// out of order by `reorder` and is put in its place; further out it is a bad row. Keeps the log of its reader alive.
class OrderedReader final : public TraceReader {
 public:
  OrderedReader(std::shared_ptr<TraceLog> log, std::unique_ptr<TraceReader> reader, Seconds reorder, bool rebase)
      : log_(std::move(log)), reader_(std::move(reader)), reorder_(reorder), rebase_(rebase) {}

  bool next(TraceRow& row) override;
  std::int64_t block_tokens() const override { return reader_->block_tokens(); }
  double progress() const override { return reader_->progress(); }
  std::uint64_t skipped_rows() const override { return log_->skipped_rows(); }

 private:
  struct Later {
    bool operator()(const TraceRow& a, const TraceRow& b) const {
      return a.timestamp != b.timestamp ? a.timestamp > b.timestamp : a.line > b.line;
    }
  };

  bool next_sorted(TraceRow& row);

  std::shared_ptr<TraceLog> log_;
  std::unique_ptr<TraceReader> reader_;
  Seconds reorder_;
  bool rebase_;
  std::vector<TraceRow> held_;  // a heap, earliest on top
  Seconds newest_{0};
  bool at_end_ = false;
  bool started_ = false;
  Seconds first_{0}, last_{0};
};

}  // namespace poolcast
