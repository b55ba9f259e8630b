// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/content.h"

namespace poolcast::routing {

/// Consistent hashing (Karger and others, 1997): every endpoint stands at many places of a circle, and a key belongs to
/// the first endpoint at or after its own place. An endpoint that is left out gives its keys to its neighbours only.
class HashRing {
 public:
  static constexpr int kPlaces = 160;  ///< of an endpoint

  void build(std::size_t endpoints) {
    places_.clear();
    for (std::uint32_t e = 0; e < endpoints; ++e) {
      for (std::uint64_t i = 0; i < kPlaces; ++i) places_.emplace_back(content_id(content_space("ring") + e, i), e);
    }
    std::sort(places_.begin(), places_.end());
  }

  /// Among `candidates` (not empty), in any order. The first that `fits`; when none does the first of all.
  template <class Fits>
  std::uint32_t owner(std::uint64_t key, std::span<const std::uint32_t> candidates, Fits fits) const {
    const std::uint64_t at = content_id(content_space("ring/key"), key);
    const auto start = std::lower_bound(places_.begin(), places_.end(), std::pair<std::uint64_t, std::uint32_t>(at, 0));
    const auto first = static_cast<std::size_t>(start - places_.begin());
    std::uint32_t otherwise = candidates[0];
    bool found = false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::uint32_t e = places_[(first + i) % places_.size()].second;
      if (std::find(candidates.begin(), candidates.end(), e) == candidates.end()) continue;
      if (fits(e)) return e;
      if (!found) otherwise = e;
      found = true;
    }
    return otherwise;
  }
  std::uint32_t owner(std::uint64_t key, std::span<const std::uint32_t> candidates) const {
    return owner(key, candidates, [](std::uint32_t) { return true; });
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places_;  ///< hash and endpoint, by hash
};

}  // namespace poolcast::routing
