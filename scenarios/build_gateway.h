// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenarios/scenario.h"
#include "sim/spec.h"

namespace poolcast {

/// Fills the gateway's policy and rules; after the pools.
void build_gateway(const Scenario& scenario, SimulationSpec& spec);

}  // namespace poolcast
