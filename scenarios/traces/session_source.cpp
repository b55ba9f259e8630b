// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scenarios/error.h"
#include "scenarios/traces/block_content.h"
#include "scenarios/traces/replay_sources.h"

namespace poolcast {
namespace {

/// A session may branch: a turn's end starts the next turn of its session and the sub-agents that were called after it.
class SessionSource final : public Source {
 public:
  SessionSource(Selection rows, const ReplayOptions& options) : options_(options), rows_(std::move(rows)) {
    TraceRow row;
    while (rows_.next(row)) add(row);
    if (!turns_.empty() && !names_sessions_) {
      throw ConfigError(Location{options_.file}, "replay",
                        "the rows of this trace name no sessions, so that each would be one of its own",
                        "replay: timestamps");
    }
    last_of_session_.clear();
  }

  SimTime peek() override { return due_.empty() ? kNever : due_.top().at; }

  Arrival pop() override {
    const Due due = due_.top();
    due_.pop();
    const Turn& turn = turns_[due.turn];
    Arrival arrival;
    arrival.intended = due.at;
    arrival.cls = options_.cls;
    arrival.prompt_tokens = turn.prompt_tokens;
    arrival.output_tokens = turn.output_tokens;
    arrival.priority = turn.priority;
    arrival.row = turn.row;
    arrival.session = turn.session;
    if (!turn.hash_ids.empty()) {
      arrival.content =
          block_content(turn.hash_ids, turn.prompt_tokens, rows_.reader().block_tokens(), content_space(options_.file));
    }
    in_flight_[turn.row] = due.turn;
    ++sent_;
    return arrival;
  }

  bool wants_feedback() const override { return true; }

  void finished(const RequestRecord& record) override {
    const auto found = in_flight_.find(record.row);
    const std::uint32_t turn = found->second;
    in_flight_.erase(found);
    if (record.outcome != Outcome::kCompleted) return;
    for (std::uint32_t next = turns_[turn].first_next; next != kNone; next = turns_[next].sibling)
      due_.push(Due{later(record.ended, turns_[next].delay), next});
  }

  bool has_prefix_data() const override { return rows_.reader().block_tokens() > 0; }
  std::uint64_t skipped_rows() const override { return rows_.reader().skipped_rows(); }
  std::uint64_t unsent() const override { return turns_.size() - sent_; }
  double progress() const override {
    return turns_.empty() ? 1 : static_cast<double>(sent_) / static_cast<double>(turns_.size());
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Turn {
    SimTime delay = 0;  ///< after the end of the turn before
    std::int64_t prompt_tokens = 0, output_tokens = 0;
    std::uint64_t row = 0, session = 0;
    std::int32_t priority = 0;
    std::vector<std::uint64_t> hash_ids;
    std::uint32_t first_next = kNone;  ///< turns that its end starts, linked by `sibling`
    std::uint32_t sibling = kNone;
  };
  struct Due {
    SimTime at;
    std::uint32_t turn;
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : turn > other.turn; }
  };

  void add(const TraceRow& row) {
    const auto index = static_cast<std::uint32_t>(turns_.size());
    Turn turn;
    turn.prompt_tokens = row.prompt_tokens;
    turn.output_tokens = row.output_tokens;
    turn.priority = row.has_priority ? row.priority : options_.priority;
    turn.row = rows_.ordinal();
    turn.session = row.session;
    turn.hash_ids = row.hash_ids;
    turns_.push_back(turn);
    names_sessions_ = names_sessions_ || row.session != UINT64_MAX || row.after_session != UINT64_MAX;
    const std::uint32_t before = last_before(row);
    if (before == kNone)
      due_.push(Due{to_sim_time(row.timestamp), index});
    else
      link(before, index, row);
    if (row.session != UINT64_MAX) last_of_session_[row.session] = index;
  }

  /// The turn whose end this row follows; kNone when it starts by itself.
  std::uint32_t last_before(const TraceRow& row) const {
    for (const std::uint64_t session : {row.session, row.after_session}) {
      if (session == UINT64_MAX) continue;
      if (const auto last = last_of_session_.find(session); last != last_of_session_.end()) return last->second;
    }
    return kNone;
  }

  void link(std::uint32_t before, std::uint32_t index, const TraceRow& row) {
    if (row.think_time.value < 0)
      throw ConfigError(Location{options_.file, static_cast<int>(row.line)}, "replay",
                        "a replay of sessions needs the think time of every turn, and this one has none",
                        "replay: timestamps");
    turns_[index].delay = to_sim_time(row.think_time);
    turns_[index].sibling = std::exchange(turns_[before].first_next, index);
  }

  ReplayOptions options_;
  Selection rows_;
  std::vector<Turn> turns_;
  bool names_sessions_ = false;                                       ///< any row does
  std::unordered_map<std::uint64_t, std::uint32_t> last_of_session_;  // while reading; never iterated
  std::unordered_map<std::uint64_t, std::uint32_t> in_flight_;        // turn by row; never iterated
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t sent_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_session_source(Selection rows, const ReplayOptions& options) {
  return std::make_unique<SessionSource>(std::move(rows), options);
}

}  // namespace poolcast
