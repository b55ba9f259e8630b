// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <nlohmann/json.hpp>

#include "scenarios/compare_text.h"
#include "scenarios/json_text.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json or_null(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }

Json difference_json(const Difference& d) {
  const auto mean = [](const MeanInterval& m) { return m.count > 0 ? Json(m.mean) : Json(); };
  const bool interval = d.difference.has_interval();
  return {{"base", mean(d.base)},
          {"candidate", mean(d.candidate)},
          {"difference", mean(d.difference)},
          {"low", interval ? Json(d.difference.low) : Json()},
          {"high", interval ? Json(d.difference.high) : Json()},
          {"relative", is_share(d.figure) ? Json() : or_null(d.relative(d.difference.mean))},
          {"deviation", interval ? Json(d.difference.deviation) : Json()},
          {"pairs", d.difference.count},
          {"base_endless", d.base_endless},
          {"candidate_endless", d.candidate_endless},
          {"zero", d.zero}};
}

Json group_json(const GroupDifferences& group) {
  Json json = {{"name", group.name}, {"requests", group.requests}, {"who", who_gains(group)}};
  json["figures"] = Json::object();
  for (const Difference& d : group.figures) json["figures"][name(d.figure)] = difference_json(d);
  return json;
}

Json gate_json(const GateOutcome& gate) {
  constexpr const char* kVerdicts[] = {"pass", "fail", "open", "not_judged"};
  return {{"figure", name(gate.margin.figure)},
          {"margin", gate.margin.most},
          {"verdict", kVerdicts[static_cast<int>(gate.verdict)]},
          {"replications_needed", or_null(gate.replications_needed)}};
}

Json move_of(const MoveRehearsal& move) {
  return {{"completed", move.completed},
          {"rolled_back", move.rolled_back},
          {"unfinished", move.other},
          {"way_back", reverse_plan(move)},
          {"first_replication", move_json(move.first)}};
}

}  // namespace

std::string comparison_json(const Comparison& c) {
  Json json = {{"poolcast", c.version},
               {"schema", 1},
               {"verdict", name(c.verdict)},
               {"replications_needed", or_null(c.replications_needed)},
               {"base", {{"scenario", c.base_name}, {"scenario_digest", c.base_digest}}},
               {"candidate", {{"scenario", c.candidate_name}, {"scenario_digest", c.candidate_digest}}},
               {"seed", c.seed},
               {"replications", c.replications},
               {"confidence", c.confidence},
               {"same_world", c.same_world},
               {"gates", Json::array()},
               {"groups", Json::array()},
               {"moves", Json::array()},
               {"notes", c.notes}};
  for (const GateOutcome& gate : c.gates) json["gates"].push_back(gate_json(gate));
  for (const GroupDifferences& group : c.groups) json["groups"].push_back(group_json(group));
  for (const MoveRehearsal& move : c.moves) json["moves"].push_back(move_of(move));
  return json_text(json);
}

}  // namespace poolcast
