// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/oracle/case.h"

namespace poolcast::oracle {

/// Runs a case of the vLLM scheduler three times: by the literal loop, by the loop in bulk, and in leaps.
Result check_vllm(const nlohmann::json& document);

}  // namespace poolcast::oracle
