// SPDX-License-Identifier: Apache-2.0
#include "scenarios/traces/selection.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/error.h"

namespace poolcast {

Selection::Selection(const TraceSpec& spec, std::unique_ptr<TraceReader> reader)
    : spec_(spec), reader_(std::move(reader)) {}

bool Selection::wanted(const TraceRow& row) const {
  return row.prompt_tokens >= spec_.min_prompt_tokens && row.prompt_tokens <= spec_.max_prompt_tokens &&
         row.output_tokens >= spec_.min_output_tokens && row.output_tokens <= spec_.max_output_tokens &&
         (spec_.model.empty() || row.model == spec_.model);
}

bool Selection::next(TraceRow& row) {
  constexpr double kLongest = 9e9;  // s, near the end of the simulated clock
  if (spec_.limit > 0 && taken_ == spec_.limit) return false;
  while (reader_->next(row)) {
    ++read_;
    if (row.timestamp < spec_.window_begin) continue;
    if (row.timestamp >= spec_.window_end) return false;
    if (!std::exchange(started_, true)) begin_ = row.timestamp;
    if (!wanted(row)) continue;
    row.timestamp = (row.timestamp - begin_) / spec_.rate_scale;
    if (row.timestamp.value > kLongest)
      throw ConfigError(Location{spec_.file, static_cast<int>(row.line)}, "rate_scale",
                        fmt::format("{:g} stretches the trace beyond 285 years", spec_.rate_scale));
    ++taken_;
    return true;
  }
  return false;
}

}  // namespace poolcast
