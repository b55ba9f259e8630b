// SPDX-License-Identifier: Apache-2.0
#include "scenarios/qualification.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scenarios/json_tree.h"
#include "scenarios/load.h"
#include "scenarios/qualification_facts.h"
#include "scenarios/qualification_record.h"
#include "scenarios/qualification_rehearsal.h"
#include "scenarios/resolve.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

/// Artifacts that state a digest, then files.
Json subjects(const Json& bindings, const Json& inputs) {
  constexpr std::string_view kStart = "sha256:";
  Json list = Json::array();
  for (const Json& binding : bindings) {
    const Json& artifact = binding.at("artifact");
    const std::string digest = artifact.value("digest", Json("")).is_string() ? artifact.value("digest", "") : "";
    if (digest.compare(0, kStart.size(), kStart) != 0) continue;
    list.push_back({{"name", artifact.at("name")}, {"digest", {{"sha256", digest.substr(kStart.size())}}}});
  }
  for (const Json& input : inputs) {
    list.push_back({{"name", input.at("name")}, {"digest", {{"sha256", input.at("sha256")}}}});
  }
  return list;
}

Json names_of(const Json& checks, const char* verdict) {
  Json list = Json::array();
  for (const Json& check : checks) {
    if (check.at("verdict") == verdict) list.push_back(check.at("check"));
  }
  return list;
}

Json rehearsal_terms(const QualifyOptions& options, const Scenario& scenario) {
  Json margins = Json::object(), limits = Json::object();
  for (const Margin& margin : options.margins) margins[name(margin.figure)] = margin.most;
  for (const FigureLimit& limit : options.limits) limits[name(limit.figure)] = limit.value;
  return {{"kind", scenario.moves.empty() ? "run" : "move"},
          {"replications", static_cast<std::uint64_t>(options.replications)},
          {"confidence", options.confidence},
          {"margins", margins},
          {"limits", limits}};
}

Json policy_with_way_back(const Scenario& scenario, const Json& rehearsed) {
  Json json = policy(scenario);
  json["reverse_plan"] = Json::array();
  if (rehearsed.contains("comparison")) {
    for (const Json& move : rehearsed.at("comparison").at("moves")) {
      for (const Json& sentence : move.at("way_back")) json["reverse_plan"].push_back(sentence);
    }
  }
  return json;
}

}  // namespace

Json qualify(const QualifyOptions& options, const Catalog& catalog) {
  const Scenario scenario = load_scenario(options.scenario, catalog, options.overrides);
  const Json inputs = input_files(scenario), bound = bindings(scenario, options.confidence);
  Json rehearsed = rehearse(scenario, options);
  const Json& checks = rehearsed.at("checks");
  const Json failed = names_of(checks, "failed");
  Json predicate = {{"schema", kQualificationSchema},
                    {"digest", ""},
                    {"date", options.date},
                    {"result", failed.empty() ? "passed" : "failed"},
                    {"passed", names_of(checks, "passed")},
                    {"warned", names_of(checks, "warned")},
                    {"failed", failed},
                    {"program", {{"name", "poolcast"}, {"version", POOLCAST_VERSION}}},
                    {"scenario",
                     {{"path", options.scenario},
                      {"digest", "sha256:" + scenario_digest(scenario)},
                      {"seed", scenario.seed},
                      {"overrides", options.overrides}}},
                    {"rehearsal", rehearsal_terms(options, scenario)},
                    {"inputs", inputs},
                    {"bindings", bound}};
  predicate["policy"] = policy_with_way_back(scenario, rehearsed);
  for (auto& [key, member] : rehearsed.items()) predicate[key] = std::move(member);
  predicate["facts"] = facts(scenario);
  Json statement = {{"_type", kStatementType},
                    {"subject", subjects(bound, inputs)},
                    {"predicateType", kPredicateType},
                    {"predicate", std::move(predicate)}};
  seal(statement);
  return statement;
}

std::vector<Margin> margins_of(const Scenario& scenario) {
  std::vector<Margin> margins = default_margins();
  for (const MoveEntry& move : scenario.moves) {
    if (!move.cost_margin) continue;
    margins.erase(std::remove_if(margins.begin(), margins.end(),
                                 [](const Margin& margin) { return margin.figure == Figure::kCost; }),
                  margins.end());
    margins.push_back({Figure::kCost, *move.cost_margin});
  }
  return margins;
}

}  // namespace poolcast
