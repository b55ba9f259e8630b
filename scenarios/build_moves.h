// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/build.h"

namespace poolcast {

/// What the true score is at least, with this confidence, taken as a share of its samples: the lower end of Wilson's
/// one-sided interval. Nothing without a score, without samples, or where the score is no share.
std::optional<double> score_bound(const ImplementationEntry& entry, double confidence);

/// Adds the moves of a scenario, and whether each may begin, to what was built of it.
void build_moves(const Scenario& scenario, BuiltScenario& built);

}  // namespace poolcast
