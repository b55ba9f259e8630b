// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bf16.h"

namespace poolcast::kernels {

/// Random numbers by counter: number i of a seed does not depend on the numbers before it.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 64 random bits (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
  std::uint64_t bits();
  /// In [0, below).
  std::int64_t below(std::int64_t limit);

  /// Even in [-1, 1) in steps of 2^-15 (rounded to bf16), and in [-127, 127].
  void fill(float* out, std::int64_t count);
  void fill(Bf16* out, std::int64_t count);
  void fill(std::int8_t* out, std::int64_t count);

 private:
  std::uint64_t state_;
};

/// 0 to count - 1 in random order.
std::vector<std::int32_t> shuffled(std::int64_t count, Random& random);

}  // namespace poolcast::kernels
