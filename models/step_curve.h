// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "models/units.h"

namespace poolcast {

/// Tokens of one request that are computed in a step while its prompt is not finished.
struct PrefillChunk {
  Tokens query = 0;    ///< tokens computed in this step
  Tokens context = 0;  ///< tokens already in the KV cache before the step
};

/// What a step holds, as far as its duration depends on it.
struct StepShape {
  Tokens tokens = 0;                      ///< all tokens in the step: decodes plus prefill queries
  std::int64_t sampled = 0;               ///< requests that sample a token at the end of the step
  std::int64_t decode_requests = 0;       ///< requests with one query token each
  Tokens decode_context = 0;              ///< sum over those of their context, the new token included
  std::span<const PrefillChunk> prefill;  ///< the other requests
};

/// The duration of a decode-only step of a fixed batch, as a straight line in its total context:
/// seconds(context) = base + slope * context, for every context up to and including `last_context`.
struct DecodeLine {
  double base_s = 0;
  double slope_s_per_token = 0;
  Tokens last_context = std::numeric_limits<Tokens>::max();

  double at(Tokens context) const { return base_s + slope_s_per_token * static_cast<double>(context); }
};

/// The longer of two at `context` (the steeper one where they are equal), up to where the other overtakes it or either
/// ends.
DecodeLine longer(const DecodeLine& a, const DecodeLine& b, Tokens context);

/// One term of a step's time (linear layers, decode attention, …), for `explain` and reports.
struct StepTerm {
  std::string name;
  Seconds seconds;
};

/// The service-time function of one model on one layout of one accelerator.
///
/// Contract: never negative; does not fall when any part of the shape grows; `step` of a decode-only shape equals the
/// line of its batch at its context to within rounding (the simulator uses the line alone for such steps). A line never
/// crosses the border of the measured range: all of it is in range or none of it. A curve is
/// immutable after construction and shared by the replicas of a pool.
class StepCurve {
 public:
  virtual ~StepCurve() = default;

  /// Duration of a step of any shape with at least one token.
  virtual Seconds step(const StepShape& shape) const = 0;

  /// The line that holds for a decode-only step of `requests` >= 1 requests from total context `context` on.
  virtual DecodeLine decode_line(std::int64_t requests, Tokens context) const = 0;

  /// Whether the shape lies in the range that the curve was measured on; outside it extrapolates. A curve that was
  /// never measured (a roofline) has no such range and always says yes.
  virtual bool in_range(const StepShape& shape) const = 0;

  /// The parts whose sum is `step(shape)`.
  virtual std::vector<StepTerm> terms(const StepShape& shape) const = 0;

  /// Of a curve with pipeline stages: the time for which a stage works within the same step, on average over the
  /// stages; the rest of the step is the bubble. Its lines hold at least as far as those of this curve. Null: one
  /// stage.
  virtual const StepCurve* busy() const { return nullptr; }

  /// One line: the kind of the curve and where its numbers come from.
  virtual std::string provenance() const = 0;
};

}  // namespace poolcast
