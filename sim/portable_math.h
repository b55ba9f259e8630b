// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Elementary functions that give the same bits on every machine.
///
/// The C library chooses variants with and without fused multiply-add at run time, and their last bits differ. Random
/// load must not depend on that (design §4), so these are made of +, -, *, / alone. Errors are at most 2 units in the
/// last place. They stand in the header because the arrival of every request needs them.
namespace poolcast {

namespace portable_math {

// ln 2 in two parts: the first ends in 20 zero bits, so that its product with a small integer is exact.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;
inline constexpr int kExpBits = 6;

/// 2^(j / 64), from the Taylor series of e^x.
inline constexpr std::array<double, 1 << kExpBits> kExpTable = [] {
  std::array<double, 1 << kExpBits> values{};
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double x = (kLn2High + kLn2Low) * static_cast<double>(j) / (1 << kExpBits);
    double sum = 0;
    for (int n = 20; n > 0; --n) sum = (sum + 1) * x / n;
    values[j] = 1 + sum;
  }
  return values;
}();

}  // namespace portable_math

/// e^x for |x| <= 700; beyond, 0 or infinity. NaN stays NaN.
constexpr double portable_exp(double x) {
  using namespace portable_math;
  if (x > 700) return std::numeric_limits<double>::infinity();
  if (x < -700) return 0;
  if (x != x) return x;
  // e^x = 2^k * 2^(j / 64) * e^r with |r| <= ln 2 / 128. Adding 1.5 * 2^52 rounds to an integer in the low bits.
  const double shifted = x * ((1 << kExpBits) * 1.44269504088896340736) + 0x1.8p52;
  const auto step = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(shifted));
  const double steps = shifted - 0x1.8p52;
  const double r = (x - steps * (kLn2High / (1 << kExpBits))) - steps * (kLn2Low / (1 << kExpBits));
  const double r2 = r * r;
  const double tail = r + r2 * ((0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120)));
  const double base = kExpTable[static_cast<std::size_t>(step & ((1 << kExpBits) - 1))];
  const auto power_of_two = std::bit_cast<double>(static_cast<std::uint64_t>((step >> kExpBits) + 1023) << 52);
  return (base + base * tail) * power_of_two;
}

/// Natural logarithm of a positive normal number; of 0 and below it is minus infinity. NaN stays NaN.
constexpr double portable_log(double x) {
  using namespace portable_math;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(x > 0)) return x != x ? x : -kInfinity;
  if (x == kInfinity) return x;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  auto mantissa = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (mantissa > 1.41421356237309504880) mantissa *= 0.5, ++exponent;
  // log m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double s2 = s * s;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * s2;
  const double k = exponent;
  return k * kLn2High + (2 * s + (2 * s * series + k * kLn2Low));
}

/// base^exponent for base >= 0; the relative error grows with |exponent * log(base)|.
constexpr double portable_pow(double base, double exponent) {
  if (exponent == 0) return 1;
  if (base <= 0) return exponent > 0 ? 0 : std::numeric_limits<double>::infinity();
  return portable_exp(exponent * portable_log(base));
}

/// cos(2 pi x) for |x| < 2^52; absolute error below 1e-15.
double portable_cos_turns(double x);

}  // namespace poolcast
