// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scenarios/scenario.h"

/// What a qualification record says of a scenario before anything is run. Members are described in
/// scenarios/qualification.md.
namespace poolcast {

/// Every file that was read: {kind, name, path, sha256}, the scenario first. A folder's digest is that of the digests
/// and names of its files. Throws FileError when one cannot be read.
nlohmann::ordered_json input_files(const Scenario& scenario);

/// An entry for each implementation: model, pool, artifact, evaluation, limits, hardware, engine, software, curve,
/// price. `confidence` is that of the bound of a score.
nlohmann::ordered_json bindings(const Scenario& scenario, double confidence);

/// What must stay for a record to stay true: `scenario`, every key with its default, and `software`, what calibrations
/// state of drivers and runtimes.
nlohmann::ordered_json facts(const Scenario& scenario);

/// How traffic is routed: of the gateway, of every pool, and the moves as the scenario states them.
nlohmann::ordered_json policy(const Scenario& scenario);

}  // namespace poolcast
