// SPDX-License-Identifier: Apache-2.0
#include "scenarios/qualification_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/units.h"

namespace poolcast {
namespace {

using Result = Check::Result;

std::string spread(const MeanInterval& m) {
  return m.has_interval() ? fmt::format("{:.4g} ({:.4g} to {:.4g})", m.mean, m.low, m.high)
                          : fmt::format("{:.4g} in one run", m.mean);
}

Check evaluation_check(const LogicalModel& model, const ImplementationEntry& entry, double confidence) {
  Check check{fmt::format("evaluation {}/{}", model.name, entry.pool), Result::kWarned, ""};
  const bool serves =
      entry.status == ImplementationStatus::kProduction || entry.status == ImplementationStatus::kCanary;
  const EvaluationResult* const result = newest_result(entry.evaluations, model.suite);
  const std::optional<double> bound = score_bound(result, confidence);
  if (!model.threshold) {
    check.why = "the scenario states no threshold";
  } else if (!bound) {
    check.why = "no score with a number of samples, so nothing is known";
    if (serves) check.result = Result::kFailed;
  } else {
    check.result = *bound >= *model.threshold ? Result::kPassed : Result::kFailed;
    check.why = fmt::format("score {} of {} samples: at least {:.4f} with {:.4g} % confidence, threshold {}",
                            number_text(*result->score), *result->samples, *bound, confidence * 100,
                            number_text(*model.threshold));
  }
  return check;
}

Check gate_check(const GateOutcome& gate) {
  Check check{fmt::format("margin {}", name(gate.margin.figure)), Result::kPassed, ""};
  const std::string most = is_share(gate.margin.figure) ? fmt::format("{:.4g} points", gate.margin.most * 100)
                                                        : fmt::format("{:.4g} %", gate.margin.most * 100);
  switch (gate.verdict) {
    case GateVerdict::kPass:
      check.why = fmt::format("surely not worse by more than {}", most);
      break;
    case GateVerdict::kFail:
      check.result = Result::kFailed;
      check.why = fmt::format("surely worse by more than {}", most);
      break;
    case GateVerdict::kUndecided:
      check.result = Result::kFailed;
      check.why = fmt::format("not enough evidence that it is not worse by more than {}", most);
      if (gate.replications_needed) check.why += fmt::format(": about {} replications", *gate.replications_needed);
      break;
    case GateVerdict::kNotJudged:
      check.result = Result::kWarned;
      check.why = "there is no such figure";
  }
  return check;
}

std::vector<std::optional<double>> completed_shares(const std::vector<RunSample>& runs, std::size_t group) {
  std::vector<std::optional<double>> shares;
  for (const RunSample& run : runs) {
    const auto& errors = run.groups[group].value[static_cast<std::size_t>(Figure::kErrorRate)];
    shares.push_back(errors ? std::optional(1 - *errors) : std::nullopt);
  }
  return shares;
}

Check move_check(const MoveRehearsal& move, std::int64_t replications) {
  Check check{fmt::format("move {} -> {}", move.first.facts.from, move.first.facts.to), Result::kPassed, ""};
  if (move.completed < replications) check.result = Result::kFailed;
  check.why = fmt::format("completed in {} of {} replications; in the first one {}", move.completed, replications,
                          outcome_text(move.first));
  return check;
}

}  // namespace

const char* name(Check::Result result) {
  constexpr const char* kNames[] = {"passed", "warned", "failed"};
  return kNames[static_cast<int>(result)];
}

FigureMean mean_of(const std::vector<std::optional<double>>& values, double confidence) {
  FigureMean figure;
  std::vector<double> finite;
  for (const auto& value : values) {
    if (!value) continue;
    std::isfinite(*value) ? finite.push_back(*value) : static_cast<void>(++figure.endless);
  }
  figure.interval = mean_interval(finite, confidence);
  return figure;
}

Check within(std::string name, const FigureMean& figure, double limit, bool at_least) {
  Check check{std::move(name), Result::kFailed, ""};
  const MeanInterval& m = figure.interval;
  const std::string bound = fmt::format("{} {:.4g}", at_least ? "at least" : "at most", limit);
  if (figure.endless > 0) {
    check.why =
        fmt::format("without end in {} of {} replications, wanted {}", figure.endless, figure.endless + m.count, bound);
  } else if (m.count == 0) {
    check.result = Result::kWarned;
    check.why = "there is no sample";
  } else if (!m.has_interval()) {
    check.why = fmt::format("{}, wanted {}: one replication has no interval", spread(m), bound);
  } else if (at_least ? m.low >= limit : m.high <= limit) {
    check.result = Result::kPassed;
    check.why = fmt::format("{}, wanted {}", spread(m), bound);
  } else {
    const bool sure = at_least ? m.high < limit : m.low > limit;
    check.why = fmt::format("{}, wanted {}{}", spread(m), bound, sure ? "" : ": not enough evidence");
  }
  return check;
}

std::vector<Check> evaluation_checks(const Scenario& scenario, double confidence) {
  std::vector<Check> checks;
  for (const LogicalModel& model : scenario.models) {
    for (const ImplementationEntry& entry : model.implementations) {
      checks.push_back(evaluation_check(model, entry, confidence));
      if (entry.status == ImplementationStatus::kProduction || entry.status == ImplementationStatus::kCanary) continue;
      checks.push_back({fmt::format("status {}/{}", model.name, entry.pool), Result::kWarned,
                        fmt::format("the implementation is {}", name(entry.status))});
    }
  }
  return checks;
}

std::vector<Check> objective_checks(const Scenario& scenario, const std::vector<RunSample>& runs, double confidence) {
  std::vector<Check> checks;
  std::size_t index = 0, group = 0;  // group 0 is all requests, and the classes follow it
  for (const LogicalModel& model : scenario.models) {
    for (const ClassEntry& cls : model.classes) {
      for (const Objective& objective : cls.objectives) {
        std::vector<std::optional<double>> values;
        for (const RunSample& run : runs) values.push_back(run.objectives.at(index).achieved_s);
        ++index;
        checks.push_back(within(fmt::format("objective {}/{} {}.p{}, seconds", model.name, cls.name,
                                            name(objective.metric), number_text(objective.percentile)),
                                mean_of(values, confidence), static_cast<double>(objective.limit) / 1e9, false));
      }
      ++group;
      if (cls.availability == 0) continue;
      checks.push_back(within(fmt::format("objective {}/{} availability", model.name, cls.name),
                              mean_of(completed_shares(runs, group), confidence), cls.availability, true));
    }
  }
  if (checks.empty()) checks.push_back({"objectives", Result::kWarned, "no class states one"});
  return checks;
}

std::vector<Check> limit_checks(const std::vector<FigureLimit>& limits, const std::vector<RunSample>& runs,
                                double confidence) {
  std::vector<Check> checks;
  for (const FigureLimit& limit : limits) {
    std::vector<std::optional<double>> values;
    for (const RunSample& run : runs) values.push_back(run.groups[0].value[static_cast<std::size_t>(limit.figure)]);
    Check check = within(fmt::format("limit {}", name(limit.figure)), mean_of(values, confidence), limit.value,
                         more_is_better(limit.figure));
    if (check.result == Result::kWarned) check.result = Result::kFailed;  // asked for, so it must be shown
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<Check> comparison_checks(const Comparison& c) {
  std::vector<Check> checks;
  for (const GateOutcome& gate : c.gates) checks.push_back(gate_check(gate));
  for (const MoveRehearsal& move : c.moves) checks.push_back(move_check(move, c.replications));
  checks.push_back({"comparison", c.verdict == Verdict::kGo ? Result::kPassed : Result::kFailed, name(c.verdict)});
  return checks;
}

std::vector<Check> validity_checks(const std::vector<RunSample>& runs) {
  const auto extrapolated = static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const RunSample& run) { return run.extrapolated_step_share > 0; }));
  const auto growing = static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const RunSample& run) { return !run.stationary; }));
  std::vector<Check> checks;
  const auto add = [&](const char* name, std::size_t count, const char* trouble) {
    checks.push_back({name, count == 0 ? Result::kPassed : Result::kWarned,
                      fmt::format("{} in {} of {} replications", trouble, count, runs.size())});
  };
  add("within the measured range of curves", extrapolated, "steps outside it");
  add("stationary load", growing, "a growing backlog");
  return checks;
}

}  // namespace poolcast
