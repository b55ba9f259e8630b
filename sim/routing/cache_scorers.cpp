// SPDX-License-Identifier: Apache-2.0
// Scorers of the KV cache: how full it is, and how much of the prompt it holds.
// Source: llm-d's kv-cache-utilization-scorer, prefix-cache-scorer, precise-prefix-cache-scorer. Of the last it is only
// known that it scores exact block hits; the share m / n of the prompt's blocks is our reading, as prefix-cache-scorer
// takes it from the same producer. m counts cached blocks from the first one on.
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

double share_of(const PrefixMatch& match) {
  return static_cast<double>(match.match_blocks) / static_cast<double>(match.total_blocks);
}

class PrefixScorer : public Plugin, public Scorer {
 public:
  PrefixScorer(const Settings& settings, const BuildContext& context)
      : weight_(settings.number("matchLengthWeight")),
        scale_(settings.number("matchLengthScaleTokens")),
        column_(column_of(settings.text("prefixMatchInfoProducerName"), context)) {
    if (weight_ > 0 && scale_ <= 0) {
      throw ParameterFault({"matchLengthScaleTokens"}, "must be above 0 where matchLengthWeight is");
    }
  }

  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      scores[i] = column_ != nullptr ? score_of((endpoints.*column_)[candidates[i]]) : 0;
    }
  }

 private:
  using Column = std::vector<PrefixMatch> Endpoints::*;

  /// What the producer of this name fills; null: there is no such producer.
  static Column column_of(std::string_view producer, const BuildContext& context) {
    const bool both = !context.exact_producer.empty();
    if (both && producer == context.exact_producer) return &Endpoints::prefix;
    if (producer != context.prefix_producer) return nullptr;
    return both ? &Endpoints::approximate : &Endpoints::prefix;
  }

  double score_of(const PrefixMatch& match) const {
    if (match.total_blocks <= 0) return 0;
    const double share = share_of(match);
    if (weight_ <= 0) return share;
    const auto tokens = static_cast<double>(match.match_blocks * match.block_size_tokens);
    const double length = std::min(1.0, tokens / scale_);
    return weight_ * (length * length) + (1 - weight_) * share;
  }

  double weight_, scale_;
  Column column_;
};

class PreciseScorer : public Plugin, public Scorer {
 public:
  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const PrefixMatch& match = endpoints.prefix[candidates[i]];
      scores[i] = match.total_blocks > 0 ? share_of(match) : 0;
    }
  }
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
      {"precise-prefix-cache-scorer", "scorer", "llm-d",
       "m / n: m of the prompt's n blocks, from the first one on, lie in the cache, as its engine told; brings "
       "precise-prefix-cache-producer with it",
       precise_parameters(), make_simple<PreciseScorer>});
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
