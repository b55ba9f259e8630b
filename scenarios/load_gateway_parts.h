// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "scenarios/scenario.h"

/// The parts of `routing.gateway`. Only load_gateway.cpp puts them together. Every function throws ConfigError.
namespace poolcast {

/// A pool that the gateway can choose.
PoolId find_pool(const YamlNode& node, const std::vector<PoolEntry>& pools);
ModelId find_model(const YamlNode& node, const std::vector<LogicalModel>& models);
/// Classes are numbered over all models. Without a model the name must belong to one of them alone.
ClassId find_class(const YamlNode& node, const std::vector<LogicalModel>& models, ModelId model);

std::vector<LengthTier> load_length_tiers(const YamlNode& node, const std::vector<PoolEntry>& pools);
void load_fallbacks(const YamlNode& node, const std::vector<LogicalModel>& models, const std::vector<PoolEntry>& pools,
                    GatewayRules& rules);
void load_cooldowns(const YamlNode& node, const std::vector<PoolEntry>& pools, GatewayRules& rules);
void load_breakers(const YamlNode& node, const std::vector<PoolEntry>& pools, GatewayRules& rules);
/// After priorities and fallbacks.
std::vector<QuotaSpec> load_quotas(const YamlNode& node, const std::vector<LogicalModel>& models,
                                   const GatewayRules& rules);
std::vector<MirrorSpec> load_mirrors(const YamlNode& node, const std::vector<PoolEntry>& pools);

/// A list of reasons for which requests do not complete, each of them one of `allowed`.
ReasonSet load_reasons(const YamlNode& node, const std::vector<Reason>& allowed);

}  // namespace poolcast
