// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unordered_map>

#include "scenarios/traces/csv_trace.h"
#include "scenarios/traces/fields.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/session_name.h"

namespace poolcast {
namespace {

/// BurstGPT (HPMLL/BurstGPT): seconds at 1 s resolution, with Session ID and Elapsed time in the third release. The
/// think time of a session's later rows runs from the end of its last row, timestamp plus Elapsed time; it is worked
/// out for a replay of sessions only, since it takes memory per session.
class BurstGptReader final : public CsvTrace {
 public:
  BurstGptReader(const TraceSpec& spec, TraceLog& log)
      : CsvTrace(spec.file, log),
        unit_(spec.time_unit.value_or(Seconds(1))),
        wants_think_time_(spec.replay == TraceSpec::Replay::kSessions) {
    time_ = columns_.need({"Timestamp"});
    prompt_ = columns_.need({"Request tokens"});
    output_ = columns_.need({"Response tokens"});
    model_ = columns_.find({"Model"});
    session_ = columns_.find({"Session ID"});
    elapsed_ = columns_.find({"Elapsed time"});
    columns_.allow_only({"Timestamp", "Session ID", "Elapsed time", "Model", "Request tokens", "Response tokens",
                         "Total tokens", "Log Type"});
  }

 private:
  bool parse_fields(TraceRow& row) override {
    double time = 0;
    if (!number(time_, "Timestamp", time) || !number(prompt_, "Request tokens", row.prompt_tokens) ||
        !number(output_, "Response tokens", row.output_tokens))
      return false;
    row.timestamp = unit_ * time;
    row.model = field(model_);
    if (session_ == Columns::kAbsent) return true;
    if (field(session_).empty()) {
      log_.remark(Oddity::kBlankSession, place(), [] { return "Session ID is blank"; });
      return true;
    }
    row.session = session_number(field(session_));
    if (wants_think_time_) add_think_time(row);
    return true;
  }

  void add_think_time(TraceRow& row) {
    const auto elapsed = parse_real(field(elapsed_));
    const auto last = ended_.find(row.session);
    if (last != ended_.end()) row.think_time = std::max(Seconds(0), row.timestamp - last->second);
    if (elapsed && *elapsed >= 0)
      ended_[row.session] = row.timestamp + unit_ * *elapsed;
    else
      ended_.erase(row.session);
  }

  Seconds unit_;
  bool wants_think_time_;
  std::size_t time_, prompt_, output_, model_, session_, elapsed_;
  std::unordered_map<std::uint64_t, Seconds> ended_;  // by session; never iterated
};

}  // namespace

std::unique_ptr<TraceReader> open_burstgpt(const TraceSpec& spec, TraceLog& log) {
  return std::make_unique<BurstGptReader>(spec, log);
}

}  // namespace poolcast
