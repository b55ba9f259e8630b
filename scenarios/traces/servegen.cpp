// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <queue>

#include "scenarios/error.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/servegen_client.h"
#include "scenarios/traces/text_trace.h"
#include "scenarios/traces/trace_files.h"
#include "scenarios/traces/trace_row.h"
#include "sim/portable_math.h"

namespace poolcast {
namespace {

/// The arrivals of one client. Every interval is drawn by itself, from streams of its own: as many arrivals as its rate
/// says (a fraction decides by chance), at gaps of its distribution's shape that are scaled to fill the interval. So
/// the published rates are met exactly, whatever the window that is replayed, and the fitted scale (which the rows
/// contradict) is not needed.
class Client {
 public:
  Client(ServeGenTables tables, std::uint64_t seed, std::string name)
      : tables_(std::move(tables)),
        seed_(seed),
        name_(std::move(name)),
        gaps_(seed, name_ + "/gaps"),
        lengths_(seed, name_ + "/lengths") {}
  Client(const Client&) = delete;  // interval_ points into tables_, which a move leaves where they are
  Client(Client&&) = default;

  /// Skips the intervals that end by `begin_s`.
  void skip_to(double begin_s) {
    while (next_ < tables_.intervals.size() && tables_.intervals[next_].end_s <= begin_s) ++next_;
  }

  /// Time of the next arrival in s; false when there is none any more.
  bool advance(double& at) {
    while (left_ == 0) {
      if (next_ == tables_.intervals.size()) return false;
      begin(tables_.intervals[next_++]);
    }
    --left_;
    passed_ += gap();
    const double share = total_ > 0 && std::isfinite(total_) ? std::min(passed_ / total_, 1.0) : 0.5;
    at = interval_.begin_s + share * (interval_.end_s - interval_.begin_s);
    return true;
  }

  void draw_lengths(TraceRow& row) {
    for (const LengthTable& table : interval_.lengths->prompt) row.prompt_tokens += table.draw(lengths_);
    row.output_tokens = interval_.lengths->output.draw(lengths_);
  }

 private:
  void begin(const RateInterval& interval) {
    interval_ = interval;
    lengths_ = RandomStream(seed_, name_ + "/lengths", next_);
    gaps_ = RandomStream(seed_, name_ + "/gaps", next_);
    const double expected = interval.rate_per_s * (interval.end_s - interval.begin_s);
    left_ = static_cast<std::uint64_t>(expected + 1e-6);
    if (gaps_.uniform() < expected - static_cast<double>(left_)) ++left_;
    // The gaps are drawn twice from the same state: once for their sum, once one by one. One more than arrivals: the
    // last gap leads to the end of the interval.
    const RandomStream state = gaps_;
    total_ = 0;
    for (std::uint64_t i = 0; i <= left_; ++i) total_ += gap();
    gaps_ = state;
    passed_ = 0;
  }

  double gap() {
    if (interval_.gaps == RateInterval::Gaps::kGamma) return gaps_.gamma(interval_.shape, 1);
    return portable_pow(gaps_.exponential(1), 1 / interval_.shape);
  }

  ServeGenTables tables_;
  std::uint64_t seed_;
  std::string name_;
  RandomStream gaps_, lengths_;
  std::size_t next_ = 0;  // interval
  RateInterval interval_;
  std::uint64_t left_ = 0;
  double total_ = 0, passed_ = 0;
};

/// ServeGen client tables (alibaba/ServeGen) as a generator: clients merged by time. `line` counts the arrivals;
/// time runs from the first interval with a rate.
class ServeGenReader final : public TraceReader {
 public:
  ServeGenReader(const TraceSpec& spec, TraceLog& log) : log_(log), end_s_(spec.window_end.value) {
    const auto found = servegen_clients(spec.file);
    if (found.empty()) throw ConfigError(Location{spec.file}, "", "the folder holds no chunk-N-trace.csv files");
    double last = 0;
    for (const ServeGenClient& client : found) {
      ServeGenTables tables = read_servegen_client(client, log);
      if (tables.intervals.empty()) continue;
      first_s_ = clients_.empty() ? tables.intervals[0].begin_s : std::min(first_s_, tables.intervals[0].begin_s);
      last = std::max(last, tables.intervals.back().end_s);
      clients_.emplace_back(std::move(tables), spec.seed,
                            fmt::format("servegen/{}/{}", spec.stream_name, client.number));
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      clients_[i].skip_to(first_s_ + spec.window_begin.value);
      push(i);
    }
    length_s_ = std::min(last - first_s_, end_s_);
  }

  bool next(TraceRow& row) override {
    while (!due_.empty()) {
      const Due due = due_.top();
      due_.pop();
      reset_row(row, ++rows_);
      row.timestamp = Seconds(due.at - first_s_);
      now_ = row.timestamp.value;
      clients_[due.client].draw_lengths(row);
      push(due.client);
      if (check_lengths(row, Place{row.line}, log_)) return true;
    }
    return false;
  }

  double progress() const override { return length_s_ > 0 ? std::min(1.0, now_ / length_s_) : 1; }

 private:
  struct Due {
    double at;
    std::size_t client;
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : client > other.client; }
  };

  void push(std::size_t client) {
    double at = 0;
    if (clients_[client].advance(at)) due_.push(Due{at, client});
  }

  TraceLog& log_;
  double end_s_;
  std::vector<Client> clients_;
  double first_s_ = 0, length_s_ = 0, now_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<TraceReader> open_servegen(const TraceSpec& spec, TraceLog& log) {
  return std::make_unique<ServeGenReader>(spec, log);
}

}  // namespace poolcast
