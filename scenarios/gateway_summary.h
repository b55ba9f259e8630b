// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/units.h"
#include "sim/gateway_report.h"
#include "sim/gateway_rules.h"
#include "sim/report.h"

/// What the rules of the gateway did, as readers of a run see it.
namespace poolcast {

struct Summary;

struct GatewaySummary {
  GatewayRules rules;
  GatewayReport report;
  /// By the order of the mirrors: of the copies' pool, the share that they have in the tokens of what completed there.
  /// Empty where the pool has no price.
  std::vector<std::optional<Dollars>> mirror_costs;
};

/// Fills the costs of copies, and takes those that stand apart out of the costs of the service.
void add_mirror_costs(Summary& summary);

/// Lines of the text; empty where no rule is in play.
std::string gateway_text(const Summary& summary);
nlohmann::ordered_json gateway_json(const Summary& summary);

}  // namespace poolcast
