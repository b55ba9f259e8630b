// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace poolcast::calibration {

/// Values on a rectangular grid of one or more axes, linear between its points along each axis. Below the first point
/// of an axis they stay, beyond the last they go on with the last slope.
struct Grid {
  std::vector<std::vector<std::int64_t>> axes;  ///< each ascending, at least one point
  std::vector<double> values;                   ///< the last axis runs fastest

  std::size_t size() const;
  /// Coordinates of a cell by its index in `values`.
  std::vector<std::int64_t> cell(std::size_t index) const;
  double at(std::span<const std::int64_t> x) const;
};

/// Makes the values rise (or stay) along every axis: the mean of the largest value below or at a cell and of the
/// smallest above or at it. Both of these never fall, so their mean does not, and noise is cut from both sides.
void make_monotone(Grid& grid);

/// Gives every missing cell (NaN) `model(cell)`, scaled by what the nearest measured cell is off the model; nearest by
/// steps on the grid. At least one cell must be measured.
void fill(Grid& grid, const std::function<double(std::span<const std::int64_t>)>& model);

}  // namespace poolcast::calibration
