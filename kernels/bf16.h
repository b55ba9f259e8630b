// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace poolcast::kernels {

// Inlined always: sources compiled for one instruction set use them, and a shared copy could come from there.

/// The upper half of an IEEE single.
struct Bf16 {
  std::uint16_t bits = 0;
};

[[gnu::always_inline]] inline float to_float(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

/// To nearest, ties to even. NaN stays NaN as long as its upper half is not zero, as in every NaN made by arithmetic.
[[gnu::always_inline]] inline Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

inline double to_double(float x) { return static_cast<double>(x); }
inline double to_double(Bf16 x) { return static_cast<double>(to_float(x)); }
inline double to_double(std::int32_t x) { return x; }
inline double to_double(std::int8_t x) { return x; }

}  // namespace poolcast::kernels
