// SPDX-License-Identifier: Apache-2.0
// Plugins that the pipeline itself carries out: who runs which profile, and who fills the columns of Endpoints.
#include "sim/routing/registry.h"

namespace poolcast::routing {

void add_handlers(std::vector<PluginInfo>& table) {
  constexpr auto kInteger = ParameterKind::kInteger;
  table.push_back({"single-profile-handler", "handler", "llm-d", "runs the one profile", {}, nullptr});
  table.push_back(
      {"approx-prefix-cache-producer",
       "producer",
       "llm-d",
       "remembers which endpoint was sent which blocks, and says how many blocks of a prompt each has",
       {{"autoTune", ParameterKind::kBoolean, "true", "", "block size of the engine instead of blockSizeTokens"},
        {"blockSizeTokens", kInteger, "16", "[1, inf)", "tokens of a block"},
        {"maxPrefixBlocksToMatch", kInteger, "2048", "[1, inf)", "blocks looked at"},
        {"maxPrefixTokensToMatch", kInteger, "131072", "[1, inf)", "tokens looked at"},
        {"lruCapacityPerServer", kInteger, "31250", "[1, inf)",
         "blocks remembered for an endpoint, least recent out first"}},
       nullptr});
  table.push_back(
      {"inflight-load-producer", "producer", "llm-d", "counts requests and tokens sent and not finished", {}, nullptr});
}

}  // namespace poolcast::routing
