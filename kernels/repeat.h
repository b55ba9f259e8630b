// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace poolcast::kernels {

/// An index known at compile time.
template <int kValue>
struct Index {
  static constexpr int value = kValue;
  constexpr operator int() const { return kValue; }
};

/// f(Index<0>()), f(Index<1>()), ... kCount times. Sums that must stay in registers are arrays indexed so: g++ 12
/// unrolls a plain loop too late to take the array out of memory, which halves the speed of a kernel.
template <int kCount, int kFrom = 0, class F>
[[gnu::always_inline]] inline void repeat(const F& f) {
  if constexpr (kFrom < kCount) {
    f(Index<kFrom>());
    repeat<kCount, kFrom + 1>(f);
  }
}

}  // namespace poolcast::kernels
