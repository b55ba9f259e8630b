// SPDX-License-Identifier: Apache-2.0
#include "calibration/refine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibration/samples.h"

namespace poolcast::calibration {
namespace {

double d(std::int64_t x) { return static_cast<double>(x); }

struct Gap {
  std::size_t part = 0, axis = 0;
  std::int64_t low = 0, high = 0;
  double expected = 0;  ///< relative error
};

/// Measured times of a part by shape, and of which shapes nothing needs to be asked again.
struct Measured {
  std::map<Shape, double> seconds;
  std::map<Shape, double> noise;  ///< half width of the interval of the median, relative
  std::set<Shape> asked;
};

/// How far the middle one of three points lies from the line between the others.
double bend(double x0, double t0, double x1, double t1, double x2, double t2) {
  const double line = t0 + (t2 - t0) * (x1 - x0) / (x2 - x0);
  return t1 > 0 ? std::abs(line / t1 - 1) : 0;
}

/// The points of a part along one axis, other coordinates held.
void collect_gaps(const Measured& m, std::size_t part, std::size_t axis, double weight, std::vector<Gap>& gaps) {
  struct At {
    std::int64_t x;
    double seconds, noise;
    bool operator<(const At& other) const { return x < other.x; }
  };
  std::map<Shape, std::vector<At>> rows;
  for (const auto& [shape, seconds] : m.seconds) {
    Shape rest = shape;
    rest[axis] = 0;
    rows[rest].push_back({shape[axis], seconds, m.noise.at(shape)});
  }
  std::map<std::pair<std::int64_t, std::int64_t>, double> worst;
  for (auto& [rest, row] : rows) {
    std::sort(row.begin(), row.end());
    for (std::size_t i = 1; i + 1 < row.size(); ++i) {
      const At &p = row[i - 1], &q = row[i], &r = row[i + 1];
      const double bent = bend(d(p.x), p.seconds, d(q.x), q.seconds, d(r.x), r.seconds);
      // Noise bends too. A gap bends about a quarter as much as the two together.
      const double error = weight * std::max(0.0, bent - std::max({p.noise, q.noise, r.noise})) / 4;
      for (const auto& gap : {std::pair(p.x, q.x), std::pair(q.x, r.x)}) worst[gap] = std::max(worst[gap], error);
    }
  }
  for (const auto& [gap, error] : worst) {
    if (gap.second - gap.first >= 2 && d(gap.second) > 1.25 * d(gap.first))
      gaps.push_back({part, axis, gap.first, gap.second, error});
  }
}

/// The share of each part in its term, at its largest shape.
std::vector<double> shares(const Calibration& c, const std::vector<Measured>& measured) {
  std::map<Term, double> total;
  std::vector<double> own(measured.size(), 0.0);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i].seconds.empty()) continue;
    own[i] = c.parts[i].times * measured[i].seconds.rbegin()->second;
    total[c.parts[i].term] += own[i];
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] > 0) own[i] /= total[c.parts[i].term];
  }
  return own;
}

}  // namespace

std::vector<Point> worst_gap(const Calibration& c, const CurveIdentity& identity, const Plan& plan,
                             const PlanLimits& limits, double above) {
  std::vector<Measured> measured(c.parts.size());
  for (const Point& p : c.points) {
    measured[p.part].asked.insert(p.shape);
    if (p.held_out || p.wall_s.empty()) continue;
    const SampleSummary s = summarise(c.head.identity.clock == "cpu" && !p.cpu_s.empty() ? p.cpu_s : p.wall_s);
    measured[p.part].seconds[p.shape] = s.median;
    measured[p.part].noise[p.shape] = s.median > 0 ? s.half_width() / s.median : 0;
  }
  std::vector<Gap> gaps;
  const std::vector<double> share = shares(c, measured);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (std::size_t axis = 0; axis < axes(c.parts[i].term); ++axis) collect_gaps(measured[i], i, axis, share[i], gaps);
  }
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.expected > b.expected; });
  for (const Gap& gap : gaps) {
    if (gap.expected < above) break;
    std::set<Shape> shapes;
    for (const auto& [shape, seconds] : measured[gap.part].seconds) {
      if (shape[gap.axis] != gap.low) continue;
      Shape middle = shape;
      middle[gap.axis] = gap.low + (gap.high - gap.low) / 2;
      if (measured[gap.part].asked.count(middle) == 0) shapes.insert(middle);
    }
    std::vector<Point> points;
    for (const Shape& shape : shapes) {
      if (auto point = make_point(identity, plan, gap.part, shape, limits)) points.push_back(std::move(*point));
    }
    if (!points.empty()) return points;
  }
  return {};
}

}  // namespace poolcast::calibration
