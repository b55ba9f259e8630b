// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calibration/fit_steps.h"
#include "calibration/least_squares.h"
#include "calibration/validate.h"
#include "models/kernel_tables.h"

namespace poolcast::calibration {
namespace {

double d(std::int64_t x) { return static_cast<double>(x); }

std::vector<const Point*> fitted_points(const Calibration& calibration, std::size_t part) {
  std::vector<const Point*> points;
  for (const Point& p : calibration.points) {
    if (p.part == part && !p.held_out && !p.wall_s.empty()) points.push_back(&p);
  }
  return points;
}

std::span<const std::int64_t> coordinates(const Shape& shape, Term term) { return {shape.data(), axes(term)}; }

double model(Term term, const std::vector<double>& coefficients, std::span<const std::int64_t> x) {
  const std::vector<double> f = features(term, x);
  double sum = 0;
  for (std::size_t i = 0; i < f.size(); ++i) sum += coefficients[i] * f[i];
  return sum;
}

std::size_t index_of(const Grid& grid, std::span<const std::int64_t> x) {
  std::size_t index = 0;
  for (std::size_t a = 0; a < grid.axes.size(); ++a) {
    const auto& axis = grid.axes[a];
    const auto at = std::lower_bound(axis.begin(), axis.end(), x[a]);
    index = index * axis.size() + static_cast<std::size_t>(at - axis.begin());
  }
  return index;
}

/// A table needs two points on an axis, and a slope beyond the last one that is not that of two neighbours with noise:
/// one more point at twice the last. Its value is estimated.
std::vector<std::int64_t> extended(std::set<std::int64_t> values) {
  const std::int64_t last = *values.rbegin();
  values.insert(last > 0 ? 2 * last : 1024);
  return {values.begin(), values.end()};
}

/// Beyond the last point of a line: the slope from the last point below half of it, which two noisy neighbours cannot
/// turn around.
void extend_line(Grid& grid) {
  const auto& x = grid.axes.front();
  auto& s = grid.values;
  const std::size_t last = x.size() - 2;
  std::size_t half = 0;
  while (half + 1 < last && x[half + 1] <= x[last] / 2) ++half;
  const double slope = last > half ? (s[last] - s[half]) / d(x[last] - x[half]) : s[last] / std::max(1.0, d(x[last]));
  s.back() = s[last] + std::max(0.0, slope) * d(x.back() - x[last]);
}

FittedPart fit_part(const std::vector<const Point*>& points, Term term, const std::string& clock) {
  FittedPart part;
  if (points.empty()) return part;
  const std::size_t n = axes(term);
  std::vector<std::set<std::int64_t>> values(n);
  std::vector<std::vector<double>> rows;
  std::vector<double> seconds;
  for (const Point* p : points) {
    for (std::size_t a = 0; a < n; ++a) values[a].insert(p->shape[a]);
    part.reach_product = std::max(part.reach_product, p->shape[0] * p->shape[1]);
    part.reach_sum = std::max(part.reach_sum, p->shape[0] + p->shape[1]);
    rows.push_back(features(term, coordinates(p->shape, term)));
    seconds.push_back(std::max(seconds_of(*p, clock), 1e-12));
  }
  part.coefficients = fit_nonnegative(rows, seconds);
  for (const auto& axis : values) {
    part.reach.push_back(*axis.rbegin());
    part.grid.axes.push_back(term == Term::kMixed ? std::vector<std::int64_t>(axis.begin(), axis.end())
                                                  : extended(axis));
  }
  part.grid.values.assign(part.grid.size(), std::nan(""));
  for (std::size_t i = 0; i < points.size(); ++i) {  // several points of one shape: the fastest
    double& cell = part.grid.values[index_of(part.grid, coordinates(points[i]->shape, term))];
    cell = std::isnan(cell) ? seconds[i] : std::min(cell, seconds[i]);
  }
  const auto missing =
      std::count_if(part.grid.values.begin(), part.grid.values.end(), [](double v) { return std::isnan(v); });
  part.points = points.size();
  part.estimated = static_cast<std::size_t>(missing);
  fill(part.grid, [&](std::span<const std::int64_t> x) { return model(term, part.coefficients, x); });
  if (n == 1) extend_line(part.grid);
  make_monotone(part.grid);
  return part;
}

/// The sum of the parts of a term, at every point that any of them has, up to where the shortest of them ends.
KernelLine sum_of(const Calibration& calibration, const std::vector<FittedPart>& parts, Term term, std::int64_t& reach,
                  std::string& why_not) {
  std::set<std::int64_t> at;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (calibration.parts[i].term != term) continue;
    if (parts[i].empty()) {
      why_not = "nothing is measured of " + calibration.parts[i].name;
      continue;
    }
    used.push_back(i);
    at.insert(parts[i].grid.axes[0].begin(), parts[i].grid.axes[0].end());
    reach = std::min(reach, parts[i].reach[0]);
  }
  KernelLine line;
  for (const std::int64_t x : at) {
    double sum = 0;
    for (const std::size_t i : used) sum += calibration.parts[i].times * parts[i].at({x});
    line.at.push_back(x);
    line.seconds.push_back(sum);
  }
  return line;
}

const FittedPart* only_part(const Calibration& calibration, const std::vector<FittedPart>& parts, Term term) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (calibration.parts[i].term == term && !parts[i].empty()) return &parts[i];
  }
  return nullptr;
}

/// Tables of mixed attention have the axes of the other two tables: its own points, or the sum where it has none.
std::vector<double> mixed_table(const AttentionTable& a, const FittedPart& mixed) {
  const Grid prefill{{a.chunk, a.context}, a.prefill}, decode{{a.requests, a.kv}, a.decode};
  const auto sum = [&](const Shape& s) {
    return prefill.at(std::span(s).subspan(0, 2)) + decode.at(std::span(s).subspan(2, 2));
  };
  std::vector<double> table;
  for (std::size_t i = 0; i < a.prefill.size(); ++i) {
    for (std::size_t j = 0; j < a.decode.size(); ++j) {
      const Shape x = {a.chunk[i / a.context.size()], a.context[i % a.context.size()], a.requests[j / a.kv.size()],
                       a.kv[j % a.kv.size()]};
      Shape inside = x;
      for (std::size_t k = 0; k < 4; ++k) inside[k] = std::min(x[k], mixed.reach[k]);
      // Beyond its points mixed attention goes on as the sum does.
      table.push_back(mixed.at(inside) + (inside == x ? 0 : std::max(0.0, sum(x) - sum(inside))));
    }
  }
  return table;
}

std::string note(const Calibration& calibration, const KernelTables& tables) {
  std::string text = fmt::format("{} shapes", calibration.measured());
  text += tables.host.value > 0 || tables.host_per_request.value > 0
              ? fmt::format(", host time from {} steps", calibration.steps.size())
              : ", no host time";
  const auto stated = calibration.provenance.find("note");
  return stated == calibration.provenance.end() ? text : text + ", " + stated->second;
}

}  // namespace

double FittedPart::at(const Shape& shape) const {
  return grid.at(std::span<const std::int64_t>(shape.data(), grid.axes.size()));
}

std::vector<double> features(Term term, std::span<const std::int64_t> x) {
  const auto prefill = [&](std::size_t at) {
    const double q = d(x[at]), c = d(x[at + 1]);
    return std::vector<double>{1, q, q * c + q * (q + 1) / 2, c};
  };
  if (term == Term::kPrefill) return prefill(0);
  if (term == Term::kDecode) return {1, d(x[0]), d(x[0]) * d(x[1])};
  if (term != Term::kMixed) return {1, d(x[0])};
  std::vector<double> f = prefill(0);
  f.push_back(d(x[2]));
  f.push_back(d(x[2]) * d(x[3]));
  return f;
}

std::vector<const char*> feature_names(Term term) {
  if (term == Term::kPrefill) return {"s", "s/query token", "s/(query, context) pair", "s/context token"};
  if (term == Term::kDecode) return {"s", "s/request", "s/context token"};
  if (term == Term::kMixed)
    return {"s", "s/query token", "s/(query, context) pair", "s/context token", "s/request", "s/decode context token"};
  return {"s", "s/token"};
}

std::vector<FittedPart> fit_parts(const Calibration& calibration) {
  std::vector<FittedPart> parts;
  for (std::size_t i = 0; i < calibration.parts.size(); ++i) {
    parts.push_back(
        fit_part(fitted_points(calibration, i), calibration.parts[i].term, calibration.head.identity.clock));
  }
  return parts;
}

CurveOrReason make_curve(const Calibration& calibration, const std::vector<FittedPart>& parts) {
  KernelTables t;
  std::string why_not;
  if (calibration.parts.empty()) return curve_of_steps(calibration);
  t.layers = std::max<std::int64_t>(1, calibration.head.identity.shape.layers);
  t.layer = sum_of(calibration, parts, Term::kLinear, t.range.tokens, why_not);
  for (double& s : t.layer.seconds) s /= d(t.layers);
  t.experts = sum_of(calibration, parts, Term::kExperts, t.range.tokens, why_not);
  t.all_reduce = sum_of(calibration, parts, Term::kAllReduce, t.range.tokens, why_not);
  t.per_sequence = sum_of(calibration, parts, Term::kHead, t.range.sampled, why_not);
  const FittedPart* const prefill = only_part(calibration, parts, Term::kPrefill);
  const FittedPart* const decode = only_part(calibration, parts, Term::kDecode);
  if (t.layer.at.empty()) why_not = "nothing is measured of the linear layers";
  if (t.per_sequence.at.empty()) why_not = "nothing is measured of the head";
  if (prefill == nullptr) why_not = "nothing is measured of prefill attention";
  if (decode == nullptr) why_not = "nothing is measured of decode attention";
  if (!why_not.empty()) return {std::nullopt, why_not};

  AttentionTable& a = t.attention;
  a.chunk = prefill->grid.axes[0];
  a.context = prefill->grid.axes[1];
  a.requests = decode->grid.axes[0];
  a.kv = decode->grid.axes[1];
  a.prefill = prefill->grid.values;
  a.decode = decode->grid.values;
  t.range.chunk = prefill->reach[0];
  t.range.prefill_context = prefill->reach[1];
  t.range.prefill_end = prefill->reach_sum;
  t.range.decode_requests = decode->reach[0];
  t.range.decode_kv = decode->reach[1];
  t.range.decode_context = decode->reach_product;
  if (const FittedPart* const mixed = only_part(calibration, parts, Term::kMixed)) a.mixed = mixed_table(a, *mixed);
  fit_host_and_mixed(calibration.steps, t);
  t.source = note(calibration, t);
  return {std::move(t), ""};
}

void fit(Calibration& calibration) {
  const std::vector<FittedPart> parts = fit_parts(calibration);
  CurveOrReason made = make_curve(calibration, parts);
  calibration.head.curve = std::move(made.curve);
  calibration.head.why_no_curve = std::move(made.why_not);
  calibration.head.errors = held_out_errors(calibration, parts);
}

}  // namespace poolcast::calibration
