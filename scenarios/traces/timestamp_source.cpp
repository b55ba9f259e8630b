// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "scenarios/traces/block_content.h"
#include "scenarios/traces/replay_sources.h"
#include "sim/random.h"

namespace poolcast {
namespace {

Arrival arrival_of(const TraceRow& row, std::uint64_t ordinal, std::int64_t block_tokens,
                   const ReplayOptions& options) {
  Arrival arrival;
  arrival.intended = to_sim_time(row.timestamp);
  arrival.cls = options.cls;
  arrival.prompt_tokens = row.prompt_tokens;
  arrival.output_tokens = row.output_tokens;
  arrival.priority = row.has_priority ? row.priority : options.priority;
  arrival.row = ordinal;
  arrival.session = row.session;
  if (!row.hash_ids.empty()) {
    arrival.content = block_content(row.hash_ids, row.prompt_tokens, block_tokens, content_space(options.file));
  }
  return arrival;
}

/// Holds the next arrival; when timestamps are spread, all those of the next tick.
class TimestampSource final : public Source {
 public:
  TimestampSource(Selection rows, const ReplayOptions& options)
      : rows_(std::move(rows)), options_(options), random_(options.seed, "spread/" + options.stream_name) {
    read();
    fill();
  }

  SimTime peek() override { return next_ < tick_.size() ? tick_[next_].intended : kNever; }

  Arrival pop() override {
    Arrival arrival = std::move(tick_[next_++]);
    if (next_ == tick_.size()) fill();
    return arrival;
  }

  bool has_prefix_data() const override { return rows_.reader().block_tokens() > 0; }
  std::uint64_t skipped_rows() const override { return rows_.reader().skipped_rows(); }
  double progress() const override { return has_row_ || next_ < tick_.size() ? rows_.reader().progress() : 1; }

 private:
  void read() {
    has_row_ = rows_.next(row_);
    if (has_row_) read_ = arrival_of(row_, rows_.ordinal(), rows_.reader().block_tokens(), options_);
  }

  /// Takes the next row, or every row of the next tick.
  void fill() {
    tick_.clear();
    next_ = 0;
    if (!has_row_) return;
    const SimTime tick = read_.intended;
    do {
      tick_.push_back(std::move(read_));
      read();
    } while (options_.quantum.value > 0 && has_row_ && read_.intended == tick);
    if (options_.quantum.value > 0) spread(tick);
  }

  /// Independent uniform places within the quantum, handed out in order, so that rows keep their order.
  void spread(SimTime tick) {
    offsets_.clear();
    for (std::size_t i = 0; i < tick_.size(); ++i) offsets_.push_back(random_.uniform() * options_.quantum.value);
    std::sort(offsets_.begin(), offsets_.end());
    for (std::size_t i = 0; i < tick_.size(); ++i) {
      // A quantum that is longer than the ticks are apart, or rounding, must not turn the order of rows.
      last_ = std::max(last_, tick + to_sim_time(Seconds(offsets_[i])));
      tick_[i].intended = last_;
    }
  }

  Selection rows_;
  ReplayOptions options_;
  RandomStream random_;
  TraceRow row_;
  bool has_row_ = false;
  Arrival read_;               // the row after those of tick_
  std::vector<Arrival> tick_;  // those before next_ are gone
  std::size_t next_ = 0;
  std::vector<double> offsets_;
  SimTime last_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_timestamp_source(Selection rows, const ReplayOptions& options) {
  return std::make_unique<TimestampSource>(std::move(rows), options);
}

}  // namespace poolcast
