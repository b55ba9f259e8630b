// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "sim/request.h"

namespace poolcast {

/// Some of the reasons for which requests do not complete.
class ReasonSet {
 public:
  constexpr ReasonSet() = default;
  constexpr ReasonSet(std::initializer_list<Reason> reasons) {
    for (const Reason reason : reasons) add(reason);
  }
  constexpr void add(Reason reason) { bits_ |= bit(reason); }
  constexpr bool has(Reason reason) const { return (bits_ & bit(reason)) != 0; }
  constexpr bool operator==(const ReasonSet&) const = default;

 private:
  static constexpr std::uint64_t bit(Reason reason) { return std::uint64_t{1} << static_cast<unsigned>(reason); }
  static_assert(kReasons <= 64);

  std::uint64_t bits_ = 0;
};

}  // namespace poolcast
