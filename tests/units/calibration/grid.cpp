// SPDX-License-Identifier: Apache-2.0
#include "calibration/grid.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "calibration/least_squares.h"

using namespace poolcast::calibration;

namespace {
double at(const Grid& grid, std::vector<std::int64_t> x) { return grid.at(x); }
}  // namespace

TEST_CASE("a grid is linear between its points, flat below the first and goes on beyond the last") {
  const Grid line{{{10, 20, 40}}, {1, 2, 6}};
  CHECK(at(line, {5}) == 1);
  CHECK(at(line, {15}) == Approx(1.5));
  CHECK(at(line, {30}) == Approx(4));
  CHECK(at(line, {60}) == Approx(10));
  const Grid plane{{{0, 10}, {0, 100}}, {0, 1, 2, 3}};  // 0.2 x + 0.01 y
  CHECK(at(plane, {5, 50}) == Approx(1.5));
  CHECK(at(plane, {20, 200}) == Approx(6));
  CHECK(plane.cell(2) == std::vector<std::int64_t>{10, 0});
}

TEST_CASE("noise that falls along an axis is evened out from both sides, on every axis") {
  Grid line{{{1, 2, 3, 4}}, {1, 4, 2, 5}};
  make_monotone(line);
  CHECK(line.values == std::vector<double>{1, 3, 3, 5});
  Grid plane{{{1, 2}, {1, 2}}, {2, 3, 1, 4}};
  make_monotone(plane);
  CHECK(plane.values == std::vector<double>{1.5, 3, 1.5, 4});
}

TEST_CASE("missing cells follow the model, scaled by the nearest measured one") {
  Grid grid{{{1, 2, 4}}, {20, std::nan(""), std::nan("")}};
  fill(grid, [](std::span<const std::int64_t> x) { return 10.0 * static_cast<double>(x[0]); });
  CHECK(grid.values == std::vector<double>{20, 40, 80});
}

TEST_CASE("least squares finds the coefficients, and none is negative") {
  const std::vector<double> exact = fit_nonnegative({{1, 1}, {1, 2}, {1, 10}}, {5, 7, 23});
  CHECK(exact[0] == Approx(3));
  CHECK(exact[1] == Approx(2));
  const std::vector<double> falling = fit_nonnegative({{1, 1}, {1, 2}, {1, 3}}, {3, 2, 1});
  CHECK(falling[0] > 0);
  CHECK(falling[1] == 0);
  const std::vector<double> rest = fit_nonnegative({{1}, {1}}, {10, 20}, {7, 17});
  CHECK(rest[0] == Approx(3));
}
