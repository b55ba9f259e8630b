// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

std::string latency_limit(const MoveGate& gate) {
  return gate.relative ? number_text(gate.limit) + "x" : to_text(Seconds(gate.limit));
}

/// Percentiles of one metric stand together, as they were read.
void write_gates(YamlWriter& yaml, const std::vector<MoveGate>& gates) {
  for (std::size_t i = 0; i < gates.size();) {
    if (gates[i].what != MoveGate::What::kLatency) {
      yaml.value(gates[i].what == MoveGate::What::kErrorRate ? "error_rate" : "eligible", number_text(gates[i].limit));
      ++i;
      continue;
    }
    const Metric metric = gates[i].metric;
    std::vector<std::string> limits;
    for (; i < gates.size() && gates[i].what == MoveGate::What::kLatency && gates[i].metric == metric; ++i) {
      limits.push_back(fmt::format("p{}: {}", number_text(gates[i].percentile), latency_limit(gates[i])));
    }
    yaml.value(name(metric), fmt::format("{{{}}}", fmt::join(limits, ", ")));
  }
}

void write_steps(YamlWriter& yaml, std::string_view key, const std::vector<MoveStep>& steps) {
  yaml.open(key);
  for (const MoveStep& step : steps) {
    yaml.open_item();
    yaml.value("share", number_text(step.share));
    if (step.share > 0) yaml.value("for", time_text(step.length));
    yaml.close_item();
  }
  yaml.close();
}

void write_move(YamlWriter& yaml, const Scenario& scenario, const MoveEntry& move) {
  const MoveSpec& spec = move.spec;
  yaml.open_item();
  yaml.text("from", scenario.pools[spec.from.value].name);
  yaml.text("to", scenario.pools[spec.to.value].name);
  std::size_t cls = spec.cls.value;
  for (const LogicalModel& model : scenario.models) {
    if (!spec.cls.valid()) break;
    if (cls < model.classes.size()) {
      yaml.text("class", model.classes[cls].name);
      break;
    }
    cls -= model.classes.size();
  }
  yaml.value("start", time_text(spec.start));
  write_steps(yaml, "steps", spec.steps);
  yaml.open("gates");
  if (move.correctness) {
    yaml.value("correctness", fmt::format("{{threshold: {}, confidence: {}}}", number_text(move.correctness->threshold),
                                          number_text(move.correctness->confidence)));
  }
  write_gates(yaml, spec.gates);
  if (move.cost_margin) yaml.value("cost", number_text(*move.cost_margin));
  yaml.close();
  yaml.open("abort");
  yaml.value("every", time_text(spec.every));
  write_gates(yaml, spec.abort);
  yaml.close();
  write_steps(yaml, "roll_back", spec.roll_back);
  yaml.value("sticky", spec.sticky == Sticky::kSession ? "session" : "request");
  yaml.value("min_requests", std::to_string(spec.min_requests));
  yaml.value("rewarm", time_text(spec.rewarm));
  yaml.close_item();
}

}  // namespace

void write_moves(YamlWriter& yaml, const Scenario& scenario) {
  if (scenario.moves.empty()) return;
  yaml.open("moves");
  for (const MoveEntry& move : scenario.moves) write_move(yaml, scenario, move);
  yaml.close();
}

}  // namespace poolcast
