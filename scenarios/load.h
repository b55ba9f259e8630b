// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"

namespace poolcast {

/// Reads a scenario file, applies `overrides` (`path.to.key=value`, see scenarios/overrides.h) in order, fills in the
/// defaults and checks every rule. Throws ConfigError at the first fault. Relative trace files are looked for beside
/// the scenario file, then in the working folder; those that an override names, in the opposite order.
Scenario load_scenario(const std::string& path, const Catalog& catalog, const std::vector<std::string>& overrides = {});

/// The same from text; `name` stands for the file in messages and its folder is where traces are looked for.
Scenario load_scenario_text(const std::string& name, std::string_view text, const Catalog& catalog,
                            const std::vector<std::string>& overrides = {});

}  // namespace poolcast
