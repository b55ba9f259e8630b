// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/traces/csv_trace.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/session_name.h"

namespace poolcast {
namespace {

/// poolcast's own CSV: timestamp_s, prompt_tokens and output_tokens, and optionally priority, session, think_time_s and
/// model, in any order; an optional field may be blank. Vidur's names (arrived_at, num_prefill_tokens,
/// num_decode_tokens) are taken for the first three.
class CsvReader final : public CsvTrace {
 public:
  CsvReader(const TraceSpec& spec, TraceLog& log) : CsvTrace(spec.file, log) {
    time_ = columns_.need({"timestamp_s", "arrived_at"});
    prompt_ = columns_.need({"prompt_tokens", "num_prefill_tokens"});
    output_ = columns_.need({"output_tokens", "num_decode_tokens"});
    priority_ = columns_.find({"priority"});
    session_ = columns_.find({"session"});
    think_ = columns_.find({"think_time_s"});
    model_ = columns_.find({"model"});
    columns_.allow_only({"timestamp_s", "prompt_tokens", "output_tokens", "priority", "session", "think_time_s",
                         "model", "arrived_at", "num_prefill_tokens", "num_decode_tokens", "num_total_tokens",
                         "pd_ratio"});
  }

 private:
  bool parse_fields(TraceRow& row) override {
    double time = 0;
    if (!number(time_, "timestamp_s", time) || !number(prompt_, "prompt_tokens", row.prompt_tokens) ||
        !number(output_, "output_tokens", row.output_tokens))
      return false;
    row.timestamp = Seconds(time);
    row.model = field(model_);
    if (!field(session_).empty()) row.session = session_number(field(session_));
    return parse_priority(row) && parse_think_time(row);
  }

  bool parse_priority(TraceRow& row) {
    if (field(priority_).empty()) return true;
    std::int64_t value = 0;
    if (!number(priority_, "priority", value)) return false;
    if (value < INT32_MIN || value > INT32_MAX)
      return bad(Oddity::kBadValue, field(priority_), fmt::format("priority: {} does not fit 32 bits", value));
    row.priority = static_cast<std::int32_t>(value);
    row.has_priority = true;
    return true;
  }

  bool parse_think_time(TraceRow& row) {
    if (field(think_).empty()) return true;
    double value = 0;
    if (!number(think_, "think_time_s", value)) return false;
    if (value < 0) return bad(Oddity::kBadValue, field(think_), "think_time_s is negative");
    row.think_time = Seconds(value);
    return true;
  }

  std::size_t time_, prompt_, output_, priority_, session_, think_, model_;
};

}  // namespace

std::unique_ptr<TraceReader> open_csv(const TraceSpec& spec, TraceLog& log) {
  return std::make_unique<CsvReader>(spec, log);
}

}  // namespace poolcast
