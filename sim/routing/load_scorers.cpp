// SPDX-License-Identifier: Apache-2.0
// Scorers of what this router itself has sent and has not seen finish.
// Source: llm-d's active-request-scorer, token-load-scorer.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class ActiveRequestScorer : public Plugin, public Scorer {
 public:
  explicit ActiveRequestScorer(const Settings& settings)
      : idle_(std::max<std::int64_t>(0, settings.integer("idleThreshold"))), most_(settings.number("maxBusyScore")) {
    if (most_ < 0 || most_ > 1) most_ = 1;
  }

  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    std::int64_t max = 0;
    for (const std::uint32_t e : candidates) max = std::max(max, endpoints.in_flight_requests[e]);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::int64_t count = endpoints.in_flight_requests[candidates[i]];
      scores[i] = count <= idle_ ? 1 : static_cast<double>(max - count) / static_cast<double>(max) * most_;
    }
  }

 private:
  std::int64_t idle_;
  double most_;
};

class TokenLoadScorer : public Plugin, public Scorer {
 public:
  static constexpr double kStandard = 4194304;

  TokenLoadScorer(const Settings& settings, const BuildContext& context)
      : threshold_(settings.number("queueThresholdTokens")),
        sees_(settings.text("inFlightLoadProducerName") == context.load_producer) {
    if (threshold_ <= 0) threshold_ = kStandard;
  }

  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::uint32_t e = candidates[i];
      const std::int64_t in_flight = sees_ ? endpoints.in_flight_tokens[e] + endpoints.uncached_tokens[e] : 0;
      const auto tokens = static_cast<double>(in_flight);
      scores[i] = tokens <= 0 ? 1 : tokens >= threshold_ ? 0 : 1.0 - tokens / threshold_;
    }
  }

 private:
  double threshold_;
  bool sees_;
};

}  // namespace

void add_load_scorers(std::vector<PluginInfo>& table) {
  table.push_back(
      {"active-request-scorer",
       "scorer",
       "llm-d",
       "1 up to idleThreshold requests in flight, else maxBusyScore (max - c) / max",
       {{"idleThreshold", ParameterKind::kInteger, "0", "", "requests in flight that still count as idle; below 0: 0"},
        {"maxBusyScore", ParameterKind::kNumber, "1", "", "the most that a busy endpoint scores; outside [0, 1]: 1"},
        {"requestTimeout", ParameterKind::kDuration, "", "", "accepted and without effect: no request is forgotten"}},
       make_of_settings<ActiveRequestScorer>});
  table.push_back({"token-load-scorer",
                   "scorer",
                   "llm-d",
                   "1 - t / queueThresholdTokens, not below 0: t tokens in flight and of this request not cached",
                   {{"queueThresholdTokens", ParameterKind::kInteger, "4194304", "", "below 1: the default"},
                    {"inFlightLoadProducerName", ParameterKind::kText, "inflight-load-producer", "",
                     "the plugin whose counts are read"}},
                   make_of_both<TokenLoadScorer>});
}

}  // namespace poolcast::routing
