// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <queue>
#include <stdexcept>
#include <unordered_map>

#include "sim/arrival_process.h"
#include "sim/length_sampler.h"
#include "sim/shared_prefix.h"
#include "sim/workload.h"

namespace poolcast {
namespace {

/// Sessions of several turns. `session` counts the sessions from 0, `row` the requests in order of their sending. What
/// a session asks for in its k-th turn is the same in every run. A turn that does not complete ends its session.
class SessionsSource final : public Source {
 public:
  SessionsSource(const SessionsSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                 const std::string& name)
      : sessions_(spec.sessions == 0 ? UINT64_MAX : spec.sessions),
        duration_(spec.duration),
        max_context_(spec.max_context),
        cls_(cls),
        priority_(priority),
        seed_(seed),
        arrivals_(spec.arrivals, RandomStream(seed, "arrivals/" + name)),
        turns_(at_least_one(spec.turns)),
        first_prompt_(at_least_one(spec.first_prompt_tokens)),
        turn_tokens_(spec.turn_tokens),
        output_(at_least_one(spec.output_tokens)),
        think_(spec.think_time),
        prefixes_(spec.shared_prefix, seed, name),
        space_(content_space("sessions/" + name)),
        turns_name_("turns/" + name),
        prompt_name_("prompt/" + name),
        output_name_("output/" + name),
        think_name_("think/" + name) {
    begin_session();
  }

  SimTime peek() override {
    const SimTime turn = due_.empty() ? kNever : due_.top().at;
    return std::min(turn, next_start_);
  }

  Arrival pop() override {
    // At the same instant a running session goes before a new one.
    if (!due_.empty() && due_.top().at <= next_start_) {
      const Turn turn = due_.top();
      due_.pop();
      return arrival(turn);
    }
    const Turn first = next_first_;
    begin_session();
    return arrival(first);
  }

  bool wants_feedback() const override { return true; }

  void finished(const RequestRecord& record) override {
    const auto open = open_.find(record.session);
    const State state = open->second;
    if (record.outcome != Outcome::kCompleted || !plan(record, state)) open_.erase(open);
  }

  bool has_prefix_data() const override { return true; }

  double progress() const override {
    if (sessions_ != UINT64_MAX) return static_cast<double>(started_) / static_cast<double>(sessions_);
    return duration_ == kNever || next_start_ == kNever
               ? -1
               : static_cast<double>(next_start_) / static_cast<double>(duration_);
  }

 private:
  struct State {
    std::int64_t turn = 0;  ///< of the one in flight
    std::int64_t turns = 1;
  };
  struct Turn {
    SimTime at = kNever;
    std::uint64_t session = 0;
    std::int64_t prompt = 0, output = 0;
    bool operator>(const Turn& other) const { return at != other.at ? at > other.at : session > other.session; }
  };

  static std::uint64_t draw(std::uint64_t session, std::int64_t turn) {
    return (session << 24) ^ static_cast<std::uint64_t>(turn);
  }
  std::int64_t sample(const LengthSampler& sampler, const std::string& name, std::uint64_t index) const {
    RandomStream stream(seed_, name, index);
    return sampler.sample(stream);
  }

  /// Finds the next session whose first turn fits into the context.
  void begin_session() {
    constexpr int kTries = 1'000'000;
    for (int tries = 0; tries < kTries; ++tries) {
      next_start_ = started_ < sessions_ ? arrivals_.next() : kNever;
      if (next_start_ >= duration_) next_start_ = kNever;
      if (next_start_ == kNever) return;
      const std::uint64_t id = started_++;
      const std::int64_t prompt = prefixes_.draw(id).tokens + sample(first_prompt_, prompt_name_, draw(id, 0));
      const std::int64_t output = sample(output_, output_name_, draw(id, 0));
      if (prompt > max_context_ - output) continue;
      next_first_ = Turn{next_start_, id, prompt, output};
      return;
    }
    throw std::runtime_error("a million sessions in a row do not fit their first turn into max_context");
  }

  /// Plans the turn after the one that has ended; false when there is none.
  bool plan(const RequestRecord& record, State state) {
    if (++state.turn >= state.turns) return false;
    const std::uint64_t index = draw(record.session, state.turn);
    const std::int64_t output = sample(output_, output_name_, index);
    const std::int64_t prompt = record.prompt_tokens + record.output_tokens + sample(turn_tokens_, prompt_name_, index);
    if (prompt > max_context_ - output) return false;
    RandomStream stream(seed_, think_name_, index);
    const SimTime at = later(record.ended, think_.sample(stream));
    if (at >= duration_) return false;
    open_[record.session] = state;
    due_.push(Turn{at, record.session, prompt, output});
    return true;
  }

  /// All that is said in a session is one stretch of tokens: a turn's output goes on where its prompt ends, and the
  /// next prompt begins with both.
  Content content(const Turn& turn) const {
    Content content;
    const Segment prefix = prefixes_.draw(turn.session);
    if (prefix.tokens > 0) content.prompt.push_back(prefix);
    content.output = content_id(space_, turn.session);
    content.output_start = turn.prompt - prefix.tokens;
    content.prompt.push_back({content.output, 0, content.output_start});
    return content;
  }

  Arrival arrival(const Turn& turn) {
    if (open_.find(turn.session) == open_.end())
      open_[turn.session] = State{0, sample(turns_, turns_name_, turn.session)};
    Arrival arrival;
    arrival.intended = turn.at;
    arrival.cls = cls_;
    arrival.priority = priority_;
    arrival.row = row_++;
    arrival.session = turn.session;
    arrival.prompt_tokens = turn.prompt;
    arrival.output_tokens = turn.output;
    arrival.content = content(turn);
    return arrival;
  }

  std::uint64_t sessions_;
  SimTime duration_;
  std::int64_t max_context_;
  ClassId cls_;
  std::int32_t priority_;
  std::uint64_t seed_;
  ArrivalProcess arrivals_;
  LengthSampler turns_, first_prompt_, turn_tokens_, output_;
  ThinkSampler think_;
  SharedPrefixes prefixes_;
  std::uint64_t space_;
  std::string turns_name_, prompt_name_, output_name_, think_name_;
  std::uint64_t started_ = 0;
  SimTime next_start_ = kNever;
  Turn next_first_;
  std::unordered_map<std::uint64_t, State> open_;  ///< sessions with a turn in flight or planned; never iterated
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> due_;
  std::uint64_t row_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_source(const SessionsSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                    const std::string& stream_name) {
  return std::make_unique<SessionsSource>(spec, cls, priority, seed, stream_name);
}

}  // namespace poolcast
