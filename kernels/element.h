// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/bf16.h"
#include "kernels/problem.h"

namespace poolcast::kernels {

/// What a product of elements T is summed in and written as.
template <class T>
struct Sums;
template <>
struct Sums<float> {
  using Sum = float;
  using Output = float;
};
template <>
struct Sums<Bf16> {
  using Sum = float;
  using Output = Bf16;
};
template <>
struct Sums<std::int8_t> {
  using Sum = std::int32_t;
  using Output = std::int32_t;
};

inline void put(float& out, float x) { out = x; }
inline void put(Bf16& out, float x) { out = to_bf16(x); }
inline void put(std::int32_t& out, std::int32_t x) { out = x; }

/// An element as a factor of Sums<T>::Sum.
inline float factor(float x) { return x; }
inline float factor(Bf16 x) { return to_float(x); }
inline std::int32_t factor(std::int8_t x) { return x; }

/// Calls f with an element of the format: f(float()), f(Bf16()) or f(int8_t()).
template <class F>
auto with_element(DType dtype, F f) {
  if (dtype == DType::kFp32) return f(float{});
  if (dtype == DType::kBf16) return f(Bf16{});
  return f(std::int8_t{});
}

/// The same for operations that have no int8.
template <class F>
auto with_float_element(DType dtype, F f) {
  return dtype == DType::kFp32 ? f(float{}) : f(Bf16{});
}

}  // namespace poolcast::kernels
