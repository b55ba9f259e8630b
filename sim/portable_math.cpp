// SPDX-License-Identifier: Apache-2.0
#include "sim/portable_math.h"

#include <cmath>

namespace poolcast {

double portable_cos_turns(double x) {
  constexpr double kTwoPi = 6.28318530717958647693;
  x -= std::floor(x);      // [0, 1)
  if (x > 0.5) x = 1 - x;  // cosine is even: [0, 0.5]
  const bool negative = x > 0.25;
  if (negative) x = 0.5 - x;  // [0, 0.25]
  const bool as_sine = x > 0.125;
  const double angle = kTwoPi * (as_sine ? 0.25 - x : x);  // at most pi / 4
  double series = 0;
  for (int n = as_sine ? 17 : 16; n >= 2; n -= 2) series = (series + 1) * -(angle * angle) / (n * (n - 1));
  const double value = (1 + series) * (as_sine ? angle : 1);
  return negative ? -value : value;
}

}  // namespace poolcast
