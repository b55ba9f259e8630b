// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/cuda/emulation/tensors.h"

// In place of the header of the same name.
namespace poolcast::cuda {

template <int kSums>
void wgmma_bf16(float (&d)[kSums], std::uint64_t a, std::uint64_t b, int add) {
  emulation::multiply_later({d, false, 2 * kSums, a, nullptr, b, false, add});
}
inline void wgmma_bf16_weights(float (&d)[64], const std::uint32_t (&a)[4], std::uint64_t b, int add) {
  emulation::multiply_later({d, false, 128, 0, a, b, true, add});
}
template <int kSums>
void wgmma_int8(int (&d)[kSums], std::uint64_t a, std::uint64_t b, int add) {
  emulation::multiply_later({d, true, 2 * kSums, a, nullptr, b, false, add});
}

}  // namespace poolcast::cuda
