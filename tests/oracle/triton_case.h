// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/oracle/case.h"

namespace poolcast::oracle {

/// Runs a case of Triton's dynamic batcher: batches and refusals, in order, with their instants in microseconds.
Result check_triton(const nlohmann::json& document);

}  // namespace poolcast::oracle
