// SPDX-License-Identifier: Apache-2.0
#include "models/step_fit.h"

#include <algorithm>
#include <cmath>

#include "models/error.h"

namespace poolcast {
namespace {

double d(std::int64_t count) { return static_cast<double>(count); }

template <class T>
bool within(std::optional<T> limit, T value) {
  return !limit || value <= *limit;
}

/// Tokens of a compiled shape that belong to no request.
Tokens padding_of(const StepShape& shape) {
  Tokens padding = shape.tokens - shape.decode_requests;
  for (const PrefillChunk& chunk : shape.prefill) padding -= chunk.query;
  return std::max<Tokens>(0, padding);
}

class StepFitCurve final : public StepCurve {
 public:
  explicit StepFitCurve(StepFit fit) : fit_(std::move(fit)) {}

  Seconds step(const StepShape& shape) const override {
    Seconds sum =
        fit_.base + fit_.per_request * d(shape.decode_requests) + fit_.per_context_token * d(shape.decode_context);
    for (const PrefillChunk& chunk : shape.prefill) {
      sum += fit_.per_token * d(chunk.query) + fit_.per_prefill_context * (d(chunk.query) * d(chunk.context));
    }
    return sum + fit_.per_token * d(padding_of(shape));
  }

  DecodeLine decode_line(std::int64_t requests, Tokens context) const override {
    DecodeLine line{(fit_.base + fit_.per_request * d(requests)).value, fit_.per_context_token.value};
    // The straight line goes on, but it ends where the log does, so that no line crosses that border.
    if (fit_.max_decode_context && context <= *fit_.max_decode_context) line.last_context = *fit_.max_decode_context;
    return line;
  }

  bool in_range(const StepShape& shape) const override {
    if (!within(fit_.max_tokens, shape.tokens) || !within(fit_.max_decode_requests, shape.decode_requests) ||
        !within(fit_.max_decode_context, shape.decode_context)) {
      return false;
    }
    for (const PrefillChunk& chunk : shape.prefill) {
      if (!within(fit_.max_prefill_context, chunk.context)) return false;
    }
    return true;
  }

  std::vector<StepTerm> terms(const StepShape& shape) const override {
    Seconds tokens, attention;
    for (const PrefillChunk& chunk : shape.prefill) {
      tokens += fit_.per_token * d(chunk.query);
      attention += fit_.per_prefill_context * (d(chunk.query) * d(chunk.context));
    }
    return {{"base", fit_.base},
            {"prefill tokens", tokens},
            {"prefill attention", attention},
            {"decode requests", fit_.per_request * d(shape.decode_requests)},
            {"decode attention", fit_.per_context_token * d(shape.decode_context)},
            {"padding", fit_.per_token * d(padding_of(shape))}};
  }

  std::string provenance() const override {
    return "step-fit: " + (fit_.source.empty() ? std::string("coefficients stated in the scenario") : fit_.source);
  }

 private:
  StepFit fit_;
};

}  // namespace

std::unique_ptr<StepCurve> make_step_fit(const StepFit& fit) {
  const double coefficients[] = {fit.base.value, fit.per_token.value, fit.per_request.value,
                                 fit.per_context_token.value, fit.per_prefill_context.value};
  double sum = 0;
  for (double value : coefficients) {
    if (!std::isfinite(value) || value < 0) throw ModelError("a step-fit coefficient must be finite and not negative");
    sum += value;
  }
  if (sum == 0) throw ModelError("a step-fit needs a coefficient above zero");
  return std::make_unique<StepFitCurve>(fit);
}

}  // namespace poolcast
