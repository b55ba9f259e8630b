// SPDX-License-Identifier: Apache-2.0
#include "tests/hip/matrix.h"

#include <cstdint>
#include <cstring>

#include "kernels/bf16.h"
#include "tests/cuda/emulation/emulation.h"

namespace poolcast::emulation {
namespace {

constexpr int kLanes = 64;

/// A as [kSize][depth], or B turned to the same shape: element (i, k) is number k mod 4 of lane (k / 4) * kSize + i.
template <int kSize>
struct Operand {
  static constexpr int kDepth = 4 * kLanes / kSize;
  float at[kSize][kDepth];

  explicit Operand(Bf16x4 own) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &own, sizeof bits);
    const std::uint64_t* of_lanes = exchange(bits);
    for (int i = 0; i < kSize; ++i)
      for (int k = 0; k < kDepth; ++k)
        at[i][k] =
            kernels::to_float(kernels::Bf16{static_cast<std::uint16_t>(of_lanes[k / 4 * kSize + i] >> 16 * (k % 4))});
  }
};

/// Element (i, j) of the sums is number 4 (i / (4 * lanes_of_rows)) + i mod 4 of lane j + kSize * (i / 4 mod
/// lanes_of_rows), where lanes_of_rows = 64 / kSize.
template <int kSize, class Sums>
Sums multiply(Bf16x4 a, Bf16x4 b, Sums sums) {
  constexpr int kLanesOfRows = kLanes / kSize;
  if (warp_lanes != kLanes || block_size.x % kLanes != 0) fault("a matrix instruction in a wave that is not 64 wide");
  const Operand<kSize> left(a), right(b);
  const int lane = linear_thread() % kLanes, j = lane % kSize;
  for (int i = 0; i < kSize; ++i) {
    if (i / 4 % kLanesOfRows != lane / kSize) continue;
    float sum = 0;
    for (int k = 0; k < Operand<kSize>::kDepth; ++k) sum += left.at[i][k] * right.at[j][k];
    sums[4 * (i / (4 * kLanesOfRows)) + i % 4] += sum;
  }
  return sums;
}

}  // namespace

Float4 multiply_16x16x16(Bf16x4 a, Bf16x4 b, Float4 c) { return multiply<16>(a, b, c); }
Float16 multiply_32x32x8(Bf16x4 a, Bf16x4 b, Float16 c) { return multiply<32>(a, b, c); }

}  // namespace poolcast::emulation
