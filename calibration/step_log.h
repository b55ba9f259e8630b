// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "calibration/records.h"

namespace poolcast::calibration {

/// Measured steps, one JSON object a line:
///   {"tokens": 130, "sampled": 3, "decode_requests": 2, "decode_context": 900, "prefill": [[128, 0]], "seconds":
///   0.012}
/// `prefill` lists [query, context] of each chunk; `tokens` may be left out (decodes plus queries), `prefill` too.
/// Throws ConfigError with the place that is wrong: an unknown key, counts that are no whole numbers from 0 to 2^40 or
/// do not fit each other (more tokens than the sum may be speculation), a time outside 1 ns to 10^6 s; a file without
/// steps.
std::vector<StepRecord> read_step_log(const std::string& path);

/// The line of a step.
std::string step_line(const StepRecord& step);

/// Every fourth record, from the second one on, judges the fit and is no part of it.
void hold_out_steps(std::vector<StepRecord>& steps);

}  // namespace poolcast::calibration
