// SPDX-License-Identifier: Apache-2.0
#include "scenarios/build_moves.h"

#include <cmath>

#include "sim/paired.h"

namespace poolcast {
namespace {

/// The lower end of Wilson's interval for a share of `samples` (Wilson 1927), one-sided.
double wilson_low(double share, double samples, double confidence) {
  constexpr std::int64_t kAsNormal = 1'000'000;
  const double z = student_quantile(2 * confidence - 1, kAsNormal);
  const double z2 = z * z / samples;
  const double half = z * std::sqrt(share * (1 - share) / samples + z2 / (4 * samples));
  return (share + z2 / 2 - half) / (1 + z2);
}

}  // namespace

std::optional<double> score_bound(const ImplementationEntry& entry, double confidence) {
  if (!entry.score || !entry.samples || *entry.score < 0 || *entry.score > 1) return std::nullopt;
  return wilson_low(*entry.score, static_cast<double>(*entry.samples), confidence);
}

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
      const auto& implementation = scenario.models[to.model].implementations[to.implementation];
      facts.threshold = entry.correctness->threshold;
      facts.score_bound = score_bound(implementation, entry.correctness->confidence);
      spec.qualified = facts.score_bound && *facts.score_bound >= *facts.threshold;
    }
    built.facts.moves.push_back(std::move(facts));
    built.spec.moves.push_back(std::move(spec));
  }
}

}  // namespace poolcast
