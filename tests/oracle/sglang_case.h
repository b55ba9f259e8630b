// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/oracle/case.h"

namespace poolcast::oracle {

/// Whether a case is one of the SGLang scheduler: its arguments tell.
bool is_sglang(const nlohmann::json& document);

/// Runs a case of the SGLang scheduler (fidelity: upstream) three times: by the literal loop, by the loop in bulk, and
/// in leaps; then once with upstream's faults mended, where every request must end. The order within a set of requests
/// that were preempted in one pass, which upstream leaves to memory addresses, is taken from the recording. The policy
/// `random` is skipped.
Result check_sglang(const nlohmann::json& document);

}  // namespace poolcast::oracle
