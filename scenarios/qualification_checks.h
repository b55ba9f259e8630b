// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/compare.h"
#include "scenarios/qualification.h"
#include "scenarios/scenario.h"

/// The questions that a qualification answers, each with passed, warned or failed and why. What chance leaves open has
/// not passed; what nobody asked for is a warning.
namespace poolcast {

struct Check {
  enum class Result { kPassed, kWarned, kFailed };
  std::string name;  ///< "objective chat/default ttft.p99"
  Result result = Result::kPassed;
  std::string why;
};
const char* name(Check::Result result);  // "passed", "warned", "failed"

/// The mean of a figure over replications, of which some may have had no end.
struct FigureMean {
  MeanInterval interval;     ///< of those with an end
  std::int64_t endless = 0;  ///< of those without
};
FigureMean mean_of(const std::vector<std::optional<double>>& values, double confidence);

/// Passed when the whole interval is within the limit.
Check within(std::string name, const FigureMean& figure, double limit, bool at_least);

/// Evaluation and status of every implementation.
std::vector<Check> evaluation_checks(const Scenario& scenario, double confidence);
/// Objectives of classes, in the order of RunSample::objectives.
std::vector<Check> objective_checks(const Scenario& scenario, const std::vector<RunSample>& runs, double confidence);
std::vector<Check> limit_checks(const std::vector<FigureLimit>& limits, const std::vector<RunSample>& runs,
                                double confidence);
/// Gates and moves of a comparison.
std::vector<Check> comparison_checks(const Comparison& comparison);
/// Whether the figures can be taken at face value.
std::vector<Check> validity_checks(const std::vector<RunSample>& runs);

}  // namespace poolcast
