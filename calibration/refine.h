// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/plan.h"
#include "calibration/records.h"

namespace poolcast::calibration {

/// Shapes in the gap where interpolation is expected to be worst: every inner point of every axis is left out in turn
/// and predicted from its neighbours, and the gaps beside it inherit its error, weighted by the share that its part has
/// of its term there. Of a table with two axes a gap is refined by a whole row. Empty when no gap is expected to be
/// further off than `above`, or none is left to be halved.
std::vector<Point> worst_gap(const Calibration& calibration, const CurveIdentity& identity, const Plan& plan,
                             const PlanLimits& limits, double above);

}  // namespace poolcast::calibration
