// SPDX-License-Identifier: Apache-2.0
#include "scenarios/contract.h"

#include <algorithm>

#include "sim/evaluation.h"

namespace poolcast {

const ErrorCategory* ServiceContract::barring_retry(Reason reason) const {
  const auto bars = [&](const ErrorCategory& category) {
    const auto& reasons = category.reasons;
    return !category.retry && std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
  };
  const auto found = std::find_if(errors.begin(), errors.end(), bars);
  return found == errors.end() ? nullptr : &*found;
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
