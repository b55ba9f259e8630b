// SPDX-License-Identifier: Apache-2.0
// Plugins that the pipeline itself carries out: who runs which profile, and who fills the columns of Endpoints.
#include "sim/routing/registry.h"

namespace poolcast::routing {

std::vector<ParameterInfo> precise_parameters() {
  constexpr const char* kNone = "without effect: blocks are the engine's own, and it tells without a broker";
  return {{"tokenProcessorConfig", ParameterKind::kAny, "", "", kNone},
          {"indexerConfig", ParameterKind::kAny, "", "", kNone},
          {"kvEventsConfig", ParameterKind::kAny, "", "", kNone}};
}

void add_handlers(std::vector<PluginInfo>& table) {
  constexpr auto kInteger = ParameterKind::kInteger;
  table.push_back({"single-profile-handler", "handler", "llm-d", "runs the one profile", {}, nullptr});
  table.push_back(
      {"disagg-profile-handler",
       "handler",
       "llm-d",
       "one profile chooses the replica that decodes, in pools of that role, and where the decider says so another one "
       "the replica that computes the prompt",
       {{"profiles", ParameterKind::kAny, "", "", "{decode: NAME, prefill: NAME}; the default names are the keys"},
        {"deciders", ParameterKind::kAny, "", "", "{prefill: NAME of a decider}; none: every prompt"}},
       nullptr});
  table.push_back({"always-disagg-pd-decider", "decider", "llm-d", "every prompt is computed elsewhere", {}, nullptr});
  table.push_back(
      {"prefix-based-pd-decider",
       "decider",
       "llm-d",
       "a prompt is computed elsewhere when it is long enough and enough of it is not cached where it will be decoded",
       {{"nonCachedTokens", kInteger, "0", "[0, inf)", "tokens that are not cached, at least"},
        {"promptTokens", kInteger, "0", "[0, inf)", "tokens of the prompt, at least"}},
       nullptr});
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
      {"precise-prefix-cache-producer", "producer", "llm-d",
       "knows from the engines' KV events which blocks lie in which prefix cache; every plugin that does not "
       "ask for the approximate producer goes by it",
       precise_parameters(), nullptr});
  table.push_back(
      {"predicted-latency-producer",
       "producer",
       "llm-d",
       "predicts TTFT and TPOT of the request on every endpoint: by the pool's own curve, where llm-d trains a "
       "model; TTFT is the prefill of waiting * (tokens in flight / requests in flight) and of the request's "
       "uncached tokens, TPOT a step of the running requests and this one; headroom is to the objectives of "
       "its class",
       {},
       nullptr});
  table.push_back(
      {"inflight-load-producer", "producer", "llm-d", "counts requests and tokens sent and not finished", {}, nullptr});
}

}  // namespace poolcast::routing
