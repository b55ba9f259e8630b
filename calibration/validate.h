// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/fit.h"
#include "calibration/records.h"

namespace poolcast::calibration {

/// Compares a fit with what it did not see. Of a term that is a sum of parts (the matrices of a layer) the sum is
/// compared, over the parts that were held out at the same shape. Terms without held-out shapes are absent; steps, if a
/// curve is there and records were held out, come last as the term "whole step".
std::vector<TermError> held_out_errors(const Calibration& calibration, const std::vector<FittedPart>& parts);

}  // namespace poolcast::calibration
