// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/units.h"
#include "scenarios/scenario.h"
#include "sim/spec.h"

namespace poolcast {

/// Judges the evidence of every implementation (evaluation and economics, which depend on no request) and writes what
/// the gates need of contract and catalog into the models and classes of `spec`, whose pools and weights are set. A
/// class that nobody may serve is told in `notes`.
void build_gates(const Scenario& scenario, SimulationSpec& spec, std::vector<std::string>& notes);

/// Why the evaluations of an implementation do not pass what its model asks for; kNone when they do.
Reason judge_evaluations(const LogicalModel& model, const ImplementationEntry& entry);

/// $ per million output tokens by the formula of CostRule; nothing without a price. `pool` is that of the spec.
std::optional<Dollars> assumed_cost(const CostRule& rule, const PoolEntry& entry, const PoolSpec& pool);

}  // namespace poolcast
