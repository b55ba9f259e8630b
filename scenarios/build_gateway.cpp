// SPDX-License-Identifier: Apache-2.0
#include "scenarios/build_gateway.h"

#include <algorithm>

#include "scenarios/load_gateway.h"
#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

constexpr double kUnknownPrice = 1e6;  ///< LiteLLM: a model whose price is not known counts as $1 a token
constexpr std::int64_t kLargestBatch = 256;
constexpr Tokens kContext = 1024;  ///< of each request

/// Dollars per million tokens of a replica that decodes a full batch: its price per hour over its tokens per hour.
double price_per_million(const PoolEntry& entry, const PoolSpec& pool) {
  if (!entry.price_per_device) return kUnknownPrice;
  const std::int64_t batch = std::clamp<std::int64_t>(max_running(pool.engine), 1, kLargestBatch);
  const Tokens context = batch * kContext;
  const double step_s = pool.curve->decode_line(batch, context).at(context);
  const double tokens_per_h = 3600 * static_cast<double>(batch * pool.ranks) / step_s;
  return pool.price_per_replica.value / tokens_per_h * 1e6;
}

}  // namespace

void build_gateway(const Scenario& scenario, SimulationSpec& spec) {
  const RoutingEntry& routing = scenario.routing;
  spec.routing.gateway = {std::string(registered_policy(routing.gateway_policy)), routing.gateway_weights};
  if (routing.gateway_policy == kDeviceAware) {  // the file weighs one replica, the simulation the whole pool
    for (std::size_t p = 0; p < spec.pools.size(); ++p) spec.routing.gateway.weights[p] *= spec.pools[p].replicas;
  }
  spec.routing.rules = routing.gateway_rules;
  if (routing.gateway_policy != "cost-based") return;
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    const auto stated = routing.gateway_prices.empty() ? std::nullopt : routing.gateway_prices[p];
    spec.routing.rules.price.push_back(stated ? *stated : price_per_million(scenario.pools[p], spec.pools[p]));
  }
}

}  // namespace poolcast
