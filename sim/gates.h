// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/request.h"
#include "sim/spec.h"

namespace poolcast {

/// Why an implementation cannot serve a request of this size, whatever its load; kNone: it can.
Reason refusal(const SimulationSpec& spec, const ImplementationSpec& implementation, std::int64_t prompt_tokens,
               std::int64_t output_tokens);

}  // namespace poolcast
