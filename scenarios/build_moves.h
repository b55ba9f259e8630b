// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/build.h"

namespace poolcast {

/// Adds the moves of a scenario, and whether each may begin, to what was built of it.
void build_moves(const Scenario& scenario, BuiltScenario& built);

}  // namespace poolcast
