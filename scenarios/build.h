// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/summary.h"
#include "sim/spec.h"

namespace poolcast {

/// A simulation ready to run, and what its summary says beside the results. Ids of the spec index `spec.pools`,
/// `spec.classes`, …, which stand in the order of the file; classes are those of the first model, then of the second,
/// ….
struct BuiltScenario {
  SimulationSpec spec;
  RunFacts facts;
  std::vector<std::string> workload;  ///< by SourceId: "model/class: trace azure_code.csv"
};

/// Makes curves and sources. Throws ConfigError when a figure that a curve needs is missing, or when a trace cannot be
/// read; the message points at the entry in the file.
BuiltScenario build(const Scenario& scenario);

}  // namespace poolcast
