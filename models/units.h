// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

/// Physical quantities as types: a number of seconds cannot be added to a number of bytes, and only the products that
/// mean something exist. Counts (tokens, requests, blocks, devices) are plain integers.
namespace poolcast {

using Tokens = std::int64_t;

/// A double with a unit. `value` is in the base unit that the alias below names.
template <class Unit>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(k * a.value); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Seconds = Quantity<struct SecondsUnit>;                // s
using Bytes = Quantity<struct BytesUnit>;                    // B
using Flops = Quantity<struct FlopsUnit>;                    // floating-point operations
using Watts = Quantity<struct WattsUnit>;                    // W
using Joules = Quantity<struct JoulesUnit>;                  // J
using Dollars = Quantity<struct DollarsUnit>;                // USD
using BytesPerSecond = Quantity<struct BytesPerSecondUnit>;  // B/s
using FlopsPerSecond = Quantity<struct FlopsPerSecondUnit>;  // FLOP/s
using DollarsPerHour = Quantity<struct DollarsPerHourUnit>;  // USD/h

constexpr Seconds operator/(Bytes b, BytesPerSecond rate) { return Seconds(b.value / rate.value); }
constexpr Seconds operator/(Flops f, FlopsPerSecond rate) { return Seconds(f.value / rate.value); }
constexpr Bytes operator*(BytesPerSecond rate, Seconds t) { return Bytes(rate.value * t.value); }
constexpr Joules operator*(Watts p, Seconds t) { return Joules(p.value * t.value); }
constexpr Dollars operator*(DollarsPerHour price, Seconds t) { return Dollars(price.value * (t.value / 3600.0)); }

}  // namespace poolcast
