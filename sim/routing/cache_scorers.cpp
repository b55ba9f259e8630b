// SPDX-License-Identifier: Apache-2.0
// Scorers of the KV cache: how full it is, and how much of the prompt it holds.
// Source: llm-d's kv-cache-utilization-scorer, prefix-cache-scorer.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class KvUsageScorer : public Plugin, public Scorer {
 public:
  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    need_metrics(endpoints, candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) scores[i] = 1 - endpoints.kv_usage[candidates[i]];
  }
};

class PrefixScorer : public Plugin, public Scorer {
 public:
  PrefixScorer(const Settings& settings, const BuildContext& context)
      : weight_(settings.number("matchLengthWeight")),
        scale_(settings.number("matchLengthScaleTokens")),
        sees_(settings.text("prefixMatchInfoProducerName") == context.prefix_producer) {
    if (weight_ > 0 && scale_ <= 0) {
      throw ParameterFault({"matchLengthScaleTokens"}, "must be above 0 where matchLengthWeight is");
    }
  }

  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      scores[i] = sees_ ? score_of(endpoints.prefix[candidates[i]]) : 0;
    }
  }

 private:
  double score_of(const PrefixMatch& match) const {
    if (match.total_blocks <= 0) return 0;
    const double share = static_cast<double>(match.match_blocks) / static_cast<double>(match.total_blocks);
    if (weight_ <= 0) return share;
    const auto tokens = static_cast<double>(match.match_blocks * match.block_size_tokens);
    const double length = std::min(1.0, tokens / scale_);
    return weight_ * (length * length) + (1 - weight_) * share;
  }

  double weight_, scale_;
  bool sees_;
};

}  // namespace

void add_cache_scorers(std::vector<PluginInfo>& table) {
  table.push_back({"kv-cache-utilization-scorer",
                   "scorer",
                   "llm-d",
                   "1 - the share of the KV cache in use",
                   {},
                   make_simple<KvUsageScorer>});
  table.push_back(
      {"prefix-cache-scorer",
       "scorer",
       "llm-d",
       "w min(1, m b / s)^2 + (1 - w) m / n: m of the prompt's n blocks of b tokens are cached, w is "
       "matchLengthWeight, "
       "s matchLengthScaleTokens",
       {{"matchLengthWeight", ParameterKind::kNumber, "0", "[0, 1]", "how much the length counts against the share"},
        {"matchLengthScaleTokens", ParameterKind::kInteger, "8192", "", "tokens at which the length counts in full"},
        {"prefixMatchInfoProducerName", ParameterKind::kText, "approx-prefix-cache-producer", "",
         "the plugin whose index is asked"}},
       make_of_both<PrefixScorer>});
}

}  // namespace poolcast::routing
