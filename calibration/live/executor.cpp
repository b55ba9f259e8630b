// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/executor.h"

#include <utility>

#include "kernels/timer.h"

namespace poolcast {

LiveExecutor::LiveExecutor(std::unique_ptr<LiveTransformer> model, LiveClock clock)
    : model_(std::move(model)), clock_(clock), tables_(model_->kv_blocks(), model_->block_size()) {}

Seconds LiveExecutor::run(std::span<const StepRow> rows) {
  batch_.clear();
  for (const StepRow& row : rows) {
    const auto blocks = tables_.grow(row.id, row.context, row.context + row.query);
    batch_.push_back({blocks, row.query, row.context, row.samples, row.id.value});
  }
  LiveStep step;
  step.shape = describe(rows);
  const kernels::RunTime inside = model_->forward(batch_);
  step.device = inside.cpu;
  step.terms = model_->terms();
  const Seconds now = kernels::wall_now();
  step.wall = since_ ? now - *since_ : inside.wall;
  since_ = now;
  steps_.push_back(std::move(step));
  return clock_ == LiveClock::kWall ? steps_.back().wall : steps_.back().device;
}

/// One query token after some context that samples is a decode; so is the last token of a prompt cut there, which
/// costs the same.
calibration::StepRecord LiveExecutor::describe(std::span<const StepRow> rows) {
  calibration::StepRecord step;
  for (const StepRow& row : rows) {
    step.tokens += row.query;
    step.sampled += row.samples;
    if (row.query == 1 && row.samples && row.context > 0) {
      ++step.decode_requests;
      step.decode_context += row.context + 1;
    } else {
      step.prefill.push_back({row.query, row.context});
    }
  }
  return step;
}

}  // namespace poolcast
