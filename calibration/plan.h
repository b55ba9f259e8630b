// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibration/records.h"

namespace poolcast::calibration {

/// How far a calibration goes.
struct PlanLimits {
  Tokens tokens = 2048;        ///< of a step, and of a chunk
  std::int64_t requests = 64;  ///< that decode or sample in a step
  Tokens context = 4096;       ///< of one request
  std::string dtype;           ///< in which all kernels run; empty: as the weights of the identity say
  double bytes = 4e9;          ///< of inputs and outputs of one shape; larger ones are left out
  /// Operations that the runner offers; nothing: all. Products, attention and all-reduces are parts of a step whether
  /// it does or not; norms, gates, rotations and the like only where it does.
  std::optional<std::set<std::string>> offered = std::nullopt;
};

/// The parts of a step of the identity's model on one device of its layout, and the shapes to measure, coarse ones
/// first, so that a budget that ends early leaves whole curves. In every gap of an axis but the first a shape is
/// held out.
///
/// Weights, attention and stores of K and V are measured cold, because a step has gone through the whole model before
/// it comes to a matrix or a layer's cache again (prompts that attend to themselves too: in steps they take what they
/// take cold); norms, gates, additions, rotary and softmax warm, because their input was just written.
///
/// Throws ModelError for what cannot be measured: multi-head latent attention, and precisions that no kernel has.
struct Plan {
  std::vector<Part> parts;
  std::vector<Point> points;
  std::vector<std::string> left_out;  ///< what of a step is no part of it
  std::size_t too_large = 0;          ///< shapes that need more memory than the limits give
};
Plan make_plan(const CurveIdentity& identity, const PlanLimits& limits);

/// A shape of a part as the runner is asked for it; nothing when it is larger than the limits.
std::optional<Point> make_point(const CurveIdentity& identity, const Plan& plan, std::size_t part, const Shape& shape,
                                const PlanLimits& limits);

}  // namespace poolcast::calibration
