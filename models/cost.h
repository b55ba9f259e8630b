// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/units.h"

namespace poolcast {

/// What one pool holds reserved for the whole duration, busy or idle.
struct ReservedCapacity {
  std::string pool;
  std::int64_t replicas = 0;
  std::int64_t devices_per_replica = 0;
  std::optional<DollarsPerHour> price_per_device;  ///< nothing = no price is known; zero dollars is a price
};

/// What the capacity produced, for the denominators.
struct Produced {
  std::int64_t accepted_outputs = 0;
  std::int64_t output_tokens = 0;
  std::int64_t accepted_output_tokens = 0;
};

struct CostLine {
  std::string pool;
  std::int64_t devices = 0;
  std::optional<DollarsPerHour> price_per_device;
  std::optional<Dollars> total;
};

/// Every amount is empty when a pool has no price, or when its denominator is zero: never a zero that means "unknown".
struct CostReport {
  std::vector<CostLine> lines;  ///< in the order of the pools
  std::optional<Dollars> total;
  std::optional<DollarsPerHour> per_hour;
  std::optional<Dollars> per_accepted_output;
  std::optional<Dollars> per_million_output_tokens;
  std::optional<Dollars> per_million_accepted_tokens;
};

/// Devices * price * duration, and the quotients of design §10 as far as they are modelled: reserved capacity.
CostReport cost(const std::vector<ReservedCapacity>& pools, Seconds duration, const Produced& produced);

}  // namespace poolcast
