// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/engines/engine_argument.h"

namespace poolcast {

/// vLLM's `speculative_config`: none, or a mapping of the method, the number of drafts and how many are accepted.
EngineArgument speculative_config();

}  // namespace poolcast
