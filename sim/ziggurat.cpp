// SPDX-License-Identifier: Apache-2.0
#include "sim/ziggurat.h"

#include <cstddef>

#include "sim/portable_math.h"

namespace poolcast {
namespace {

// The area of a layer is the tail's rectangle plus the tail: r f(r) + integral of f from r on. With it, the recursion
// ends at height 1 after 255 layers; `tests/units/sim/random_ziggurat.cpp` checks that.
constexpr double kNormalArea = 0.00492867323397465535;
constexpr double kExponentialArea = 0.00394965982258155722;

template <class Density, class Inverse>
constexpr Ziggurat make(double tail, double area, Density f, Inverse inverse) {
  Ziggurat table{};
  table.x[0] = area / f(tail);
  table.x[1] = tail;
  table.y[1] = f(tail);
  for (std::size_t i = 1; i + 1 < Ziggurat::kLayers; ++i) {
    table.y[i + 1] = table.y[i] + area / table.x[i];
    table.x[i + 1] = inverse(table.y[i + 1]);
  }
  table.x[Ziggurat::kLayers] = 0;
  table.y[Ziggurat::kLayers] = 1;
  return table;
}

}  // namespace

constinit const Ziggurat kNormalZiggurat = make(
    kNormalTail, kNormalArea, [](double x) { return portable_exp(-0.5 * x * x); },
    [](double y) { return portable_pow(-2 * portable_log(y), 0.5); });

constinit const Ziggurat kExponentialZiggurat = make(
    kExponentialTail, kExponentialArea, [](double x) { return portable_exp(-x); },
    [](double y) { return -portable_log(y); });

}  // namespace poolcast
