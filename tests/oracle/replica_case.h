// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/oracle/case.h"

namespace poolcast::oracle {

/// Runs a hand-worked case of one replica of an engine with compiled shapes (`bucketed`) or of ONNX Runtime sessions
/// (`session`): when each request gets its first and its last token, why one is refused, and what the replica counts.
/// Once in leaps and once in single steps.
///
/// `step_us`: a step costs base + tokens * per_token + (decode context) * per_context, padding included.
Result check_replica(const nlohmann::json& document);

}  // namespace poolcast::oracle
