// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace poolcast::calibration {

/// Coefficients c >= 0 that make sum_i (rows[i] . c / measured[i] - 1)^2 small: relative errors, so that short times
/// count as much as long ones. Solved by QR; a coefficient that comes out negative is set to zero and the rest solved
/// again, the most negative one first. Rows are equally long; measured values are above zero.
std::vector<double> fit_nonnegative(const std::vector<std::vector<double>>& rows, const std::vector<double>& measured);

/// The same where part of each measured value is known and only the rest is to be explained: rows[i] . c is compared
/// with measured[i] - known[i], relative to measured[i].
std::vector<double> fit_nonnegative(const std::vector<std::vector<double>>& rows, const std::vector<double>& measured,
                                    const std::vector<double>& known);

}  // namespace poolcast::calibration
