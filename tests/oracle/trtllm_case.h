// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/oracle/case.h"

namespace poolcast::oracle {

/// Runs a case of TensorRT-LLM's loop (without overlap) three times: by the literal walk, in bulk, and in leaps.
Result check_trtllm(const nlohmann::json& document);

}  // namespace poolcast::oracle
