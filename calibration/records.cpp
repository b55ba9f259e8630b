// SPDX-License-Identifier: Apache-2.0
#include "calibration/records.h"

#include <algorithm>

#include "calibration/samples.h"

namespace poolcast::calibration {

const char* name(Term term) {
  switch (term) {
    case Term::kLinear:
      return "linear layers";
    case Term::kExperts:
      return "experts";
    case Term::kAllReduce:
      return "all-reduce";
    case Term::kHead:
      return "head and sampler";
    case Term::kPrefill:
      return "prefill attention";
    case Term::kDecode:
      return "decode attention";
    case Term::kMixed:
      return "mixed attention";
  }
  return "";
}

std::size_t axes(Term term) {
  if (term == Term::kMixed) return 4;
  return term == Term::kPrefill || term == Term::kDecode ? 2 : 1;
}

StepShape shape_of(const StepRecord& s) {
  return {s.tokens, s.sampled, s.decode_requests, s.decode_context, s.prefill};
}

double attention_seconds(const StepCurve& curve, const StepShape& shape) {
  for (const StepTerm& term : curve.terms(shape)) {
    if (term.name == "attention") return term.seconds.value;
  }
  return 0;
}

std::size_t Calibration::measured() const {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const Point& p) { return !p.wall_s.empty(); }));
}

double seconds_of(const Point& point, const std::string& clock) {
  if (clock != "cpu" || point.cpu_s.empty()) return quantile(point.wall_s, 0.5);
  constexpr double kMostOfMedian = 3;
  const double most = kMostOfMedian * quantile(point.cpu_s, 0.5);
  double sum = 0;
  for (const double sample : point.cpu_s) sum += std::min(sample, most);
  return sum / static_cast<double>(point.cpu_s.size());
}

}  // namespace poolcast::calibration
