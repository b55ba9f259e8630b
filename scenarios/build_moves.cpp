// SPDX-License-Identifier: Apache-2.0
#include "scenarios/build_moves.h"

#include "scenarios/contract.h"

namespace poolcast {
void build_moves(const Scenario& scenario, BuiltScenario& built) {
  for (const MoveEntry& entry : scenario.moves) {
    MoveSpec spec = entry.spec;
    const PoolEntry& to = scenario.pools[spec.to.value];
    MoveFacts facts;
    facts.from = scenario.pools[spec.from.value].name;
    facts.to = to.name;
    if (spec.cls.valid()) facts.cls = built.spec.classes[spec.cls.value].name;
    facts.roll_back = spec.roll_back;
    facts.cost_margin = entry.cost_margin;
    if (entry.correctness) {
      const LogicalModel& model = scenario.models[to.model];
      const auto* const result = newest_result(model.implementations[to.implementation].evaluations, model.suite);
      facts.threshold = entry.correctness->threshold;
      facts.score_bound = score_bound(result, entry.correctness->confidence);
      spec.qualified = facts.score_bound && *facts.score_bound >= *facts.threshold;
    }
    built.facts.moves.push_back(std::move(facts));
    built.spec.moves.push_back(std::move(spec));
  }
}

}  // namespace poolcast
