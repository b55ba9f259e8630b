// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibration/grid.h"
#include "calibration/records.h"

namespace poolcast::calibration {

/// A part as the fit sees it.
struct FittedPart {
  Grid grid;                         ///< without axes: nothing of it is measured
  std::vector<std::int64_t> reach;   ///< largest measured value on each axis
  std::int64_t reach_product = 0;    ///< decode: largest measured requests * context
  std::int64_t reach_sum = 0;        ///< prefill: largest measured query + context
  std::vector<double> coefficients;  ///< of the model that fills missing cells (see `features`); may be empty
  std::size_t points = 0, estimated = 0;

  bool empty() const { return grid.axes.empty(); }
  double at(const Shape& shape) const;
};

/// What enters the model of a term, with coefficients fitted by relative least squares: of a line 1, x; of prefill
/// 1, q, q c + q (q + 1) / 2, c; of decode 1, n, n c; of mixed attention those of both.
std::vector<double> features(Term term, std::span<const std::int64_t> x);
std::vector<const char*> feature_names(Term term);

/// Interpolation between the times (`seconds_of`) of the points that are not held out, made monotone. Tables rather
/// than regression per regime, because they were the better of the two on shapes that were held out
/// (calibration/accuracy.md).
std::vector<FittedPart> fit_parts(const Calibration& calibration);

/// The curve from all parts and step records, or why there is none. Host time and what mixed steps cost beyond the sum
/// are fitted to step records; without any, the sum stands and there is no host time.
struct CurveOrReason {
  std::optional<KernelTables> curve;
  std::string why_not;
};
CurveOrReason make_curve(const Calibration& calibration, const std::vector<FittedPart>& parts);

/// Fits, judges on what was held out, and sets `head.curve`, `head.errors` and `head.why_no_curve`.
void fit(Calibration& calibration);

}  // namespace poolcast::calibration
