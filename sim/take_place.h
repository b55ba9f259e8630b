// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace poolcast {

/// Takes a place of a vector out of `free`, as it was left there, or makes a new one.
template <class Places>
std::uint32_t take_place(Places& places, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    places.emplace_back();
    return static_cast<std::uint32_t>(places.size() - 1);
  }
  const std::uint32_t at = free.back();
  free.pop_back();
  return at;
}

}  // namespace poolcast
