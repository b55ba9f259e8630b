// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace poolcast {

/// Tables of the ziggurat method (Marsaglia, Tsang: "The Ziggurat Method for Generating Random Variables", 2000) with
/// 256 layers of equal area under a falling density f with f(0) = 1.
///
/// `x[1]` is where the tail begins and `x[256]` is 0; layer i > 0 lies between the heights `y[i] = f(x[i])` and
/// `y[i + 1]`. `x[0]` is the width that the lowest layer would have if it and the tail were one rectangle.
struct Ziggurat {
  static constexpr int kLayers = 256;
  std::array<double, kLayers + 1> x;
  std::array<double, kLayers + 1> y;
};

inline constexpr double kNormalTail = 3.65415288536100877;       ///< x[1] of the normal
inline constexpr double kExponentialTail = 7.69711747013104971;  ///< x[1] of the exponential

extern const Ziggurat kNormalZiggurat;       ///< f(x) = exp(-x^2 / 2)
extern const Ziggurat kExponentialZiggurat;  ///< f(x) = exp(-x)

}  // namespace poolcast
