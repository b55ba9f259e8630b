// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/build.h"
#include "scenarios/scenario.h"

namespace poolcast::testing {

/// Checks that two simulations are the same: every field of their specs, and what their curves and sources give.
void check_same(const SimulationSpec& a, const SimulationSpec& b);
/// Checks that two scenarios are the same, also in what a simulation does not need.
void check_same_scenario(const Scenario& first, const Scenario& second);

}  // namespace poolcast::testing
