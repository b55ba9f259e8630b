// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Where a producer or a consumer stands in a ring of shared-memory stages guarded by two mbarriers each: `full` (the
/// copy engine has delivered) and `empty` (the consumers have read).
///
/// A fresh mbarrier is in phase 0. Waiting on parity p returns once the phase of that parity has completed, and the
/// phase before phase 0 counts as completed with parity 1. So a consumer's first wait on `full` is on parity 0 and
/// blocks, and a producer's first wait on `empty` is on parity 1 and passes: the ring starts empty without a first
/// arrival by anybody. Every role steps through every stage in the same order, over all of its tiles, and never resets.
namespace poolcast::cuda {

struct RingPosition {
  std::uint32_t stage = 0;
  std::uint32_t phase = 0;

  constexpr void advance(std::uint32_t stages) {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1u;
    }
  }
  constexpr std::uint32_t full_parity() const { return phase; }        ///< for the consumer's wait on `full`
  constexpr std::uint32_t empty_parity() const { return phase ^ 1u; }  ///< for the producer's wait on `empty`
};

}  // namespace poolcast::cuda
