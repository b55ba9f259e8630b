// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/fit.h"
#include "calibration/records.h"

/// What whole steps tell. Records that are held out are left out; fewer than eight are too few to fit anything.
namespace poolcast::calibration {

/// Fewer steps (those held out not counted) tell nothing.
inline constexpr std::size_t kLeastSteps = 8;

/// Adds to the tables what steps cost beyond the sum of their parts: time per step and per request (the host), per
/// token (what a runner does not offer), and the shares by which attention of chunks and of decodes costs more in a
/// step that has both (not where a table of mixed attention was measured). None is negative.
void fit_host_and_mixed(const std::vector<StepRecord>& steps, KernelTables& tables);

/// A curve from steps alone, by relative least squares with coefficients >= 0:
///   base + a tokens + b decode requests + c decode context + e sum of q k + q (q + 1) / 2 over chunks (q after k).
/// The range is that of the records.
CurveOrReason curve_of_steps(const Calibration& calibration);

}  // namespace poolcast::calibration
