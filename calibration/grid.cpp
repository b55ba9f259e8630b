// SPDX-License-Identifier: Apache-2.0
#include "calibration/grid.h"

#include <algorithm>
#include <cmath>

namespace poolcast::calibration {
namespace {

struct Place {
  std::size_t low = 0;
  double share = 0;  // of the way to the next point; above 1 beyond the last
};

Place place(const std::vector<std::int64_t>& axis, std::int64_t x) {
  if (axis.size() < 2 || x <= axis.front()) return {};
  const auto above = static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), x) - axis.begin());
  const std::size_t low = std::min(above, axis.size() - 1) - 1;
  return {low, static_cast<double>(x - axis[low]) / static_cast<double>(axis[low + 1] - axis[low])};
}

/// Steps along an axis in `values`.
std::vector<std::size_t> strides(const Grid& grid) {
  std::vector<std::size_t> s(grid.axes.size(), 1);
  for (std::size_t a = s.size(); a-- > 1;) s[a - 1] = s[a] * grid.axes[a].size();
  return s;
}

}  // namespace

std::size_t Grid::size() const {
  std::size_t n = 1;
  for (const auto& axis : axes) n *= axis.size();
  return n;
}

std::vector<std::int64_t> Grid::cell(std::size_t index) const {
  std::vector<std::int64_t> x(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    x[a] = axes[a][index % axes[a].size()];
    index /= axes[a].size();
  }
  return x;
}

double Grid::at(std::span<const std::int64_t> x) const {
  const std::vector<std::size_t> stride = strides(*this);
  std::vector<Place> places;
  for (std::size_t a = 0; a < axes.size(); ++a) places.push_back(place(axes[a], x[a]));
  double sum = 0;
  for (unsigned corner = 0; corner < (1U << axes.size()); ++corner) {
    double weight = 1;
    std::size_t index = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const bool high = ((corner >> a) & 1U) != 0;
      weight *= high ? places[a].share : 1 - places[a].share;
      index += (places[a].low + (high ? 1 : 0)) * stride[a];
    }
    if (weight != 0) sum += weight * values[index];
  }
  return sum;
}

void make_monotone(Grid& grid) {
  std::vector<double> below = grid.values, above = grid.values;
  const std::vector<std::size_t> stride = strides(grid);
  for (std::size_t a = 0; a < grid.axes.size(); ++a) {
    const std::size_t n = grid.axes[a].size();
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (i / stride[a] % n > 0) below[i] = std::max(below[i], below[i - stride[a]]);
    }
    for (std::size_t i = above.size(); i-- > 0;) {
      if (i / stride[a] % n + 1 < n) above[i] = std::min(above[i], above[i + stride[a]]);
    }
  }
  for (std::size_t i = 0; i < below.size(); ++i) grid.values[i] = (below[i] + above[i]) / 2;
}

void fill(Grid& grid, const std::function<double(std::span<const std::int64_t>)>& model) {
  const std::vector<std::size_t> stride = strides(grid);
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < grid.values.size(); ++i) {
    if (!std::isnan(grid.values[i])) known.push_back(i);
  }
  const auto distance = [&](std::size_t i, std::size_t j) {
    std::size_t sum = 0;
    for (std::size_t a = 0; a < stride.size(); ++a) {
      const std::size_t n = grid.axes[a].size(), p = i / stride[a] % n, q = j / stride[a] % n;
      sum += p > q ? p - q : q - p;
    }
    return sum;
  };
  std::vector<double> filled = grid.values;
  for (std::size_t i = 0; i < filled.size(); ++i) {
    if (!std::isnan(filled[i])) continue;
    const std::size_t nearest = *std::min_element(
        known.begin(), known.end(), [&](std::size_t a, std::size_t b) { return distance(i, a) < distance(i, b); });
    const double there = model(grid.cell(nearest));
    filled[i] = model(grid.cell(i)) * (there > 0 ? grid.values[nearest] / there : 1);
  }
  grid.values = std::move(filled);
}

}  // namespace poolcast::calibration
