// SPDX-License-Identifier: Apache-2.0
#include "calibration/validate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "calibration/samples.h"
#include "models/kernel_tables.h"

namespace poolcast::calibration {
namespace {

/// Regimes of a term by number, so that they are listed in their order.
std::pair<int, const char*> regime(Term term, const Shape& x) {
  constexpr std::pair<int, const char*> kSmall[] = {{0, "1 to 16"}, {1, "17 to 256"}, {2, "above 256"}};
  const auto by_size = [&](std::int64_t n) { return kSmall[n <= 16 ? 0 : n <= 256 ? 1 : 2]; };
  switch (term) {
    case Term::kPrefill:
      if (x[1] == 0) return {0, "no context"};
      return {1, "after context"};
    case Term::kDecode:
      if (x[0] == 1) return {0, "1 request"};
      if (x[0] <= 16) return {1, "2 to 16 requests"};
      return {2, "above 16 requests"};
    case Term::kMixed:
      if (x[2] <= 16) return {0, "chunk, to 16 decodes"};
      return {1, "chunk, above 16 decodes"};
    default:
      return by_size(x[0]);
  }
}

struct Key {
  Term term;
  int order;
  bool operator<(const Key& o) const { return std::pair(term, order) < std::pair(o.term, o.order); }
};

struct Collected {
  const char* regime = "";
  std::vector<double> errors;
};

TermError summary(const char* term, const Collected& c) {
  return {term, c.regime, static_cast<std::int64_t>(c.errors.size()), quantile(c.errors, 0.5),
          quantile(c.errors, 0.95)};
}

void add_step_errors(const Calibration& calibration, const KernelTables& tables, std::vector<TermError>& errors) {
  const auto curve = make_kernel_table_curve(tables);
  std::map<int, Collected> collected;
  for (const StepRecord& s : calibration.steps) {
    if (!s.held_out || !(s.seconds > 0)) continue;
    const int kind = s.prefill.empty() ? 0 : s.decode_requests == 0 ? 1 : 2;
    constexpr const char* kKinds[] = {"decodes", "prefill", "prefill and decodes"};
    const double predicted = curve->step(shape_of(s)).value;
    collected[kind].regime = kKinds[kind];
    collected[kind].errors.push_back(std::abs(predicted / s.seconds - 1));
  }
  for (const auto& [kind, c] : collected) errors.push_back(summary("whole step", c));
}

}  // namespace

std::vector<TermError> held_out_errors(const Calibration& calibration, const std::vector<FittedPart>& parts) {
  // (term, shape) -> predicted and measured sums over the parts.
  std::map<std::pair<Term, Shape>, std::pair<double, double>> sums;
  for (const Point& p : calibration.points) {
    if (!p.held_out || p.wall_s.empty() || parts[p.part].empty()) continue;
    const Part& part = calibration.parts[p.part];
    auto& [predicted, measured] = sums[{part.term, p.shape}];
    predicted += part.times * parts[p.part].at(p.shape);
    measured += part.times * seconds_of(p, calibration.head.identity.clock);
  }
  std::map<Key, Collected> collected;
  for (const auto& [at, sum] : sums) {
    const auto [order, words] = regime(at.first, at.second);
    Collected& c = collected[{at.first, order}];
    c.regime = words;
    if (sum.second > 0) c.errors.push_back(std::abs(sum.first / sum.second - 1));
  }
  std::vector<TermError> errors;
  for (const auto& [key, c] : collected) {
    if (!c.errors.empty()) errors.push_back(summary(name(key.term), c));
  }
  if (calibration.head.curve) add_step_errors(calibration, *calibration.head.curve, errors);
  return errors;
}

}  // namespace poolcast::calibration
