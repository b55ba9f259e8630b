// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/request.h"

/// Why requests did not go where they did not go.
namespace poolcast {

struct Summary;

/// What the gates said of one pool.
struct GateCounts {
  std::array<std::uint64_t, kReasons> counts{};  ///< by Reason; kNone: passed

  std::uint64_t judged() const;
  std::uint64_t passed() const { return counts[0]; }
  void add(const std::array<std::uint64_t, kReasons>& more);
};

/// What they said of a pool, over all classes.
GateCounts gates_of_pool(const Summary& summary, std::size_t pool);

/// "canary 1,200, batch_only 40"; empty where there is none.
std::string reasons_text(const std::array<std::uint64_t, kReasons>& counts);

/// A line for each pool, and one for what went to compatibility pools; empty where the scenario states no gates or
/// nothing was refused.
std::string gates_text(const Summary& summary);

/// `gates` of a pool in summary.json; {} where the scenario states no gates.
nlohmann::ordered_json gates_json(const Summary& summary, std::size_t pool);
/// `compatibility` in summary.json: an entry for each class of a model that has such a pool.
nlohmann::ordered_json compatibility_json(const Summary& summary);

}  // namespace poolcast
