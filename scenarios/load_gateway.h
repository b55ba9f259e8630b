// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

/// `routing.gateway`, and the `retry` of a class.
namespace poolcast {

/// A policy that only the gateway has: its name here or elsewhere, and the registered policy that chooses among the
/// pools that its rules leave.
struct GatewayPolicy {
  std::string_view name;
  std::string_view chooses_by;
  std::string_view rule;  ///< one sentence
};
inline constexpr std::string_view kDeviceAware = "device-aware-weighted";
const std::vector<GatewayPolicy>& gateway_policies();
/// The registered policy behind a name.
std::string_view registered_policy(std::string_view gateway_policy);

bool is_of_gateway(std::string_view policy);  ///< and of nothing else

/// The place among these of the policy that is named, by any spelling (sim/routing/spellings.h). Throws ConfigError.
std::size_t choose_policy(const YamlNode& node, const std::vector<std::string_view>& names);

/// One of these policies, for engines of these pools. Throws ConfigError.
std::string read_policy(const YamlNode& node, const std::vector<std::string_view>& names,
                        std::span<const PoolEntry> pools);

/// Reads the section into `routing`, whose policy is what stands outside of it. Throws ConfigError.
void load_gateway(const YamlNode& node, const std::vector<LogicalModel>& models, const std::vector<PoolEntry>& pools,
                  RoutingEntry& routing);

RetrySpec load_retry(const YamlNode& node);

}  // namespace poolcast
