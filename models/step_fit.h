// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/step_curve.h"

namespace poolcast {

/// Coefficients fitted to the step log of an engine:
///   seconds = base + per_token * (prefill tokens + padding) + per_request * decode requests
///           + per_context_token * decode context + per_prefill_context * sum of query * context over prefill chunks.
/// Padding is what a compiled shape holds beyond its requests. With all but `base` zero this is a fixed step.
struct StepFit {
  Seconds base{0};
  Seconds per_token{0};
  Seconds per_request{0};
  Seconds per_context_token{0};
  Seconds per_prefill_context{0};  ///< per query token and token of context before it

  // The largest values in the log. A step beyond one is extrapolated by the same line and marked so.
  std::optional<Tokens> max_tokens;                 ///< tokens in a step
  std::optional<std::int64_t> max_decode_requests;  ///< decodes in a step
  std::optional<Tokens> max_decode_context;         ///< their total context
  std::optional<Tokens> max_prefill_context;        ///< context before one chunk
  std::string source;                               ///< which log, for the reader
};

/// Throws ModelError when a coefficient is negative or not finite, or when all are zero.
std::unique_ptr<StepCurve> make_step_fit(const StepFit& fit);

}  // namespace poolcast
