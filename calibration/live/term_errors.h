// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibration/live/executor.h"
#include "models/step_curve.h"

namespace poolcast {

/// Predicted against measured, term by term, over all steps of one kind: where a curve's error is.
struct TermErrors {
  const char* kind = "";  ///< "decodes only", "with prompts"
  std::int64_t steps = 0;
  TermTimes predicted, measured;  ///< sums over the steps
};

/// Kinds without a step are absent. The terms of a step are scaled to its time by the clock: what else the machine did
/// meanwhile fell on each of them in proportion to its length. By the wall clock, what passed between two steps is
/// `kOther`. A curve's attention of prompts is that of the step without its decodes; host time is `kOther`.
std::vector<TermErrors> term_errors(const StepCurve& curve, std::span<const LiveStep> steps, LiveClock clock);

}  // namespace poolcast
