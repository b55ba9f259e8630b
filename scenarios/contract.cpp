// SPDX-License-Identifier: Apache-2.0
#include "scenarios/contract.h"

#include "sim/evaluation.h"

namespace poolcast {

const std::vector<ErrorCategory>& default_error_categories() {
  static const std::vector<ErrorCategory> kCategories = {
      {"too_long",
       {Reason::kContextLimit, Reason::kInputLimit, Reason::kOutputLimit, Reason::kShape, Reason::kKvCapacity,
        Reason::kTokenBudget},
       false},
      {"overloaded", {Reason::kQueueFull, Reason::kSaturated, Reason::kQueueTimeout, Reason::kReplicasStalled}, true},
      {"failed", {Reason::kStalled}, true},
      {"given_up", {Reason::kTimeout, Reason::kPatience}, false},
  };
  return kCategories;
}

const std::vector<std::string_view>& metadata_names() {
  static const std::vector<std::string_view> kNames = {"pool",   "artifact",    "version",
                                                       "status", "accelerator", "region"};
  return kNames;
}

const EvaluationResult* newest_result(const std::vector<EvaluationResult>& results, const std::string& suite) {
  const EvaluationResult* newest = nullptr;
  for (const EvaluationResult& result : results) {
    if (!result.suite.empty() && result.suite != suite) continue;
    if (newest == nullptr || result.date >= newest->date) newest = &result;
  }
  return newest;
}

std::optional<double> score_bound(const EvaluationResult* result, double confidence) {
  if (result == nullptr || !result->score || !result->samples) return std::nullopt;
  if (*result->score < 0 || *result->score > 1) return std::nullopt;
  return wilson_low(*result->score, static_cast<double>(*result->samples), confidence);
}

Reason judge_evaluation(const EvaluationResult* result, double threshold, double confidence) {
  if (result == nullptr || !result->score) return Reason::kEvaluationMissing;
  const auto bound = score_bound(result, confidence);
  if (!bound) return Reason::kEvaluationSamples;
  if (*result->score < threshold) return Reason::kBelowThreshold;
  return *bound < threshold ? Reason::kNotConfident : Reason::kNone;
}

}  // namespace poolcast
