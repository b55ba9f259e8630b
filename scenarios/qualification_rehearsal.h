// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scenarios/qualification.h"
#include "scenarios/scenario.h"

namespace poolcast {

/// What the rehearsal came to: `checks`, `figures`, `request_shapes` and, of scenarios with moves, `moves`.
nlohmann::ordered_json rehearse(const Scenario& scenario, const QualifyOptions& options);

}  // namespace poolcast
