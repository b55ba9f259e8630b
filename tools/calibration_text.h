// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "calibration/fit.h"
#include "calibration/records.h"

/// Calibrations as text for a terminal.
namespace poolcast {

/// Error per term and regime, over held-out shapes.
std::string errors_text(const std::vector<TermError>& errors);
/// Whose curve it is and how it was measured.
std::string identity_text(const calibration::Calibration& calibration);
/// Every part: points, reach, coefficients of its model, and time at its ends.
std::string parts_text(const calibration::Calibration& calibration, const std::vector<calibration::FittedPart>& parts);
/// Of the curve in a file: its errors, or why there is none.
std::string curve_text(const std::string& path);

}  // namespace poolcast
