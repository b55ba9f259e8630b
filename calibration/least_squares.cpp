// SPDX-License-Identifier: Apache-2.0
#include "calibration/least_squares.h"

#include <algorithm>
#include <Eigen/Dense>

namespace poolcast::calibration {

std::vector<double> fit_nonnegative(const std::vector<std::vector<double>>& rows, const std::vector<double>& measured,
                                    const std::vector<double>& known) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  std::vector<double> result(rows.empty() ? 0 : rows.front().size(), 0.0);
  std::vector<std::size_t> used(result.size());
  for (std::size_t c = 0; c < used.size(); ++c) used[c] = c;
  while (!used.empty()) {
    Eigen::MatrixXd a(n, static_cast<Eigen::Index>(used.size()));
    Eigen::VectorXd b(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (Eigen::Index c = 0; c < a.cols(); ++c)
        a(i, c) = rows[row][used[static_cast<std::size_t>(c)]] / measured[row];
      b(i) = (measured[row] - known[row]) / measured[row];
    }
    const Eigen::VectorXd x = a.colPivHouseholderQr().solve(b);
    Eigen::Index worst = 0;
    const double least = x.minCoeff(&worst);
    if (least >= 0) {
      for (std::size_t c = 0; c < used.size(); ++c) result[used[c]] = x(static_cast<Eigen::Index>(c));
      break;
    }
    used.erase(used.begin() + worst);
  }
  return result;
}

std::vector<double> fit_nonnegative(const std::vector<std::vector<double>>& rows, const std::vector<double>& measured) {
  return fit_nonnegative(rows, measured, std::vector<double>(measured.size(), 0.0));
}

}  // namespace poolcast::calibration
