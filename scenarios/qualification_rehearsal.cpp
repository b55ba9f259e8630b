// SPDX-License-Identifier: Apache-2.0
#include "scenarios/qualification_rehearsal.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "scenarios/build.h"
#include "scenarios/compare_text.h"
#include "scenarios/qualification_checks.h"
#include "sim/simulation.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

/// Lengths that the load asked for, by class.
class Shapes : public Observer {
 public:
  explicit Shapes(std::size_t classes) : prompts_(classes), outputs_(classes) {}

  void request_ended(const RequestRecord& r) override {
    if (!r.measured) return;
    prompts_[r.cls.value].push_back(r.prompt_tokens);
    outputs_[r.cls.value].push_back(r.output_target);
  }

  Json json(const RunFacts& facts) {
    Json list = Json::array();
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      list.push_back({{"model", facts.models[facts.classes[i].model.value]},
                      {"class", facts.classes[i].name},
                      {"requests", prompts_[i].size()},
                      {"prompt_tokens", percentiles(prompts_[i])},
                      {"output_tokens", percentiles(outputs_[i])}});
    }
    return list;
  }

 private:
  /// At rank ceil(q n).
  static Json percentiles(std::vector<std::int64_t>& lengths) {
    std::sort(lengths.begin(), lengths.end());
    Json json;
    for (const auto& [key, q] : {std::pair("p50", 0.5), std::pair("p90", 0.9), std::pair("p99", 0.99)}) {
      const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(lengths.size())));
      json[key] = lengths.empty() ? Json() : Json(lengths[std::max<std::size_t>(rank, 1) - 1]);
    }
    json["max"] = lengths.empty() ? Json() : Json(lengths.back());
    return json;
  }

  std::vector<std::vector<std::int64_t>> prompts_, outputs_;
};

Json request_shapes(const Scenario& scenario) {
  BuiltScenario built = build(scenario);
  Shapes shapes(built.spec.classes.size());
  simulate(std::move(built.spec), {&shapes});
  return shapes.json(built.facts);
}

Json mean_json(const FigureMean& figure) {
  const MeanInterval& m = figure.interval;
  return {{"mean", m.count > 0 ? Json(m.mean) : Json()},
          {"low", m.has_interval() ? Json(m.low) : Json()},
          {"high", m.has_interval() ? Json(m.high) : Json()},
          {"replications", m.count},
          {"endless", figure.endless}};
}

Json group_json(const std::string& name, std::size_t group, const std::vector<RunSample>& runs, double confidence) {
  std::uint64_t requests = 0;
  for (const RunSample& run : runs) requests += run.groups[group].requests;
  Json json = {{"name", name}, {"requests", requests}};
  for (int f = 0; f < kFigures; ++f) {
    std::vector<std::optional<double>> values;
    for (const RunSample& run : runs) values.push_back(run.groups[group].value[static_cast<std::size_t>(f)]);
    const FigureMean mean = mean_of(values, confidence);
    if (mean.interval.count + mean.endless > 0) json[poolcast::name(static_cast<Figure>(f))] = mean_json(mean);
  }
  return json;
}

Json objectives_json(const Scenario& scenario, const std::vector<RunSample>& runs, double confidence) {
  Json list = Json::array();
  std::size_t index = 0;
  for (const LogicalModel& model : scenario.models) {
    for (const ClassEntry& cls : model.classes) {
      for (const Objective& objective : cls.objectives) {
        std::vector<std::optional<double>> achieved, within;
        for (const RunSample& run : runs) {
          achieved.push_back(run.objectives.at(index).achieved_s);
          within.push_back(run.objectives.at(index).share_within);
        }
        ++index;
        list.push_back({{"model", model.name},
                        {"class", cls.name},
                        {"metric", name(objective.metric)},
                        {"percentile", objective.percentile},
                        {"limit_s", static_cast<double>(objective.limit) / 1e9},
                        {"achieved_s", mean_json(mean_of(achieved, confidence))},
                        {"share_within", mean_json(mean_of(within, confidence))}});
      }
    }
  }
  return list;
}

Json figures_json(const Scenario& scenario, const std::vector<RunSample>& runs, double confidence) {
  Json json = {{"objectives", objectives_json(scenario, runs, confidence)}, {"groups", Json::array()}};
  const std::vector<std::string> names = group_names(build(scenario).facts);
  for (std::size_t g = 0; g < names.size(); ++g) {
    Json group = group_json(names[g], g, runs, confidence);
    if (g == 0 || group["requests"] > 0) json["groups"].push_back(std::move(group));
  }
  return json;
}

Json checks_json(const std::vector<std::vector<Check>>& lists) {
  Json json = Json::array();
  for (const auto& list : lists) {
    for (const Check& check : list) {
      json.push_back({{"check", check.name}, {"verdict", name(check.result)}, {"why", check.why}});
    }
  }
  return json;
}

}  // namespace

Json rehearse(const Scenario& scenario, const QualifyOptions& options) {
  std::vector<RunSample> runs;
  std::vector<Check> of_moves;
  Json comparison;
  if (scenario.moves.empty()) {
    runs = sample_replications({&scenario}, options.replications, options.threads, options.progress)[0];
  } else {
    Scenario base = scenario;
    base.moves.clear();
    const Comparison c = compare(
        base, scenario, {options.replications, options.confidence, options.margins, options.threads, options.progress});
    runs = c.candidate_runs;
    of_moves = comparison_checks(c);
    comparison = Json::parse(comparison_json(c));
    for (const char* elsewhere : {"poolcast", "schema", "base", "candidate"}) comparison.erase(elsewhere);
  }
  const std::vector<std::vector<Check>> checks = {
      evaluation_checks(scenario, options.confidence), objective_checks(scenario, runs, options.confidence),
      limit_checks(options.limits, runs, options.confidence), of_moves, validity_checks(runs)};
  Json json = {{"checks", checks_json(checks)},
               {"request_shapes", request_shapes(scenario)},
               {"figures", figures_json(scenario, runs, options.confidence)}};
  if (!comparison.is_null()) json["comparison"] = std::move(comparison);
  return json;
}

}  // namespace poolcast
