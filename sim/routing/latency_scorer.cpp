// SPDX-License-Identifier: Apache-2.0
// Rule: by predicted headroom to the objectives; without any prediction by queue, KV use and prefix.
// Source: llm-d's latency-scorer. The truncation to hundredths makes the order of operations part of the rule.
#include <algorithm>
#include <cmath>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

/// Endpoints that are scored together; the others get 0.
enum class Tier { kPositive, kIdle, kTpotOnly, kTtftOnly, kBoth };

Tier tier_of(const LatencyPrediction& p, bool any_positive) {
  const bool ttft = p.ttft_headroom_ms >= 0, tpot = p.tpot_headroom_ms >= 0;
  if (ttft && tpot) return Tier::kPositive;
  if (!any_positive && p.dispatched_requests == 0) return Tier::kIdle;
  return ttft ? Tier::kTpotOnly : tpot ? Tier::kTtftOnly : Tier::kBoth;
}

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool wide() const { return high > low; }
  double place(double value) const { return wide() ? (value - low) / (high - low) : 0.5; }
};

class LatencyScorer : public Plugin, public Scorer {
 public:
  explicit LatencyScorer(const Settings& settings)
      : ttft_weight_(settings.number("ttftWeight")),
        tpot_weight_(settings.number("tpotWeight")),
        most_(settings.text("headroomSelectionStrategy") == "most"),
        kv_weight_(settings.number("compositeKVWeight")),
        queue_weight_(settings.number("compositeQueueWeight")),
        prefix_weight_(settings.number("compositePrefixWeight")) {
    const double sum = ttft_weight_ + tpot_weight_;
    ttft_weight_ = sum > 0 ? ttft_weight_ / sum : 1;
    tpot_weight_ = sum > 0 ? tpot_weight_ / sum : 0;
    const double all = kv_weight_ + queue_weight_ + prefix_weight_;
    kv_weight_ = all > 0 ? kv_weight_ / all : 1;
    queue_weight_ = all > 0 ? queue_weight_ / all : 0;
    prefix_weight_ = all > 0 ? prefix_weight_ / all : 0;
  }

  void score(const RequestView&, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    const auto& known = endpoints.latency;
    const bool any = !known.empty() &&
                     std::any_of(candidates.begin(), candidates.end(), [&](std::uint32_t e) { return known[e].known; });
    if (any) {
      score_headroom(known, candidates, scores);
    } else {
      score_composite(endpoints, candidates, scores);
    }
  }

 private:
  void score_headroom(const std::vector<LatencyPrediction>& known, std::span<const std::uint32_t> candidates,
                      std::span<double> scores) const {
    // An endpoint without a prediction has headroom 0 in the record, which counts as positive.
    const bool any_positive = std::any_of(candidates.begin(), candidates.end(),
                                          [&](std::uint32_t e) { return tier_of(known[e], true) == Tier::kPositive; });
    Tier best = Tier::kBoth;
    for (const std::uint32_t e : candidates) best = std::min(best, tier_of(known[e], any_positive));
    Range ttft, tpot;
    for (const std::uint32_t e : candidates) {
      if (tier_of(known[e], any_positive) != best) continue;
      ttft.add(std::fabs(known[e].ttft_headroom_ms));
      tpot.add(std::fabs(known[e].tpot_headroom_ms));
    }
    double ttft_weight = ttft_weight_, tpot_weight = tpot_weight_;
    if (ttft.wide() != tpot.wide()) {  // the one that tells nothing leaves its weight to the other
      ttft_weight = ttft.wide() ? 1 : 0;
      tpot_weight = ttft.wide() ? 0 : 1;
    }
    const bool most = most_ && any_positive;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const LatencyPrediction& p = known[candidates[i]];
      scores[i] = 0;
      if (tier_of(p, any_positive) != best) continue;
      const double combined = ttft_weight * ttft.place(std::fabs(p.ttft_headroom_ms)) +
                              tpot_weight * tpot.place(std::fabs(p.tpot_headroom_ms));
      const double good = most ? combined : 1 - combined;
      scores[i] = static_cast<double>(static_cast<std::int64_t>(good * 100) + 1) / 100;
    }
  }

  void score_composite(const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
                       std::span<double> scores) const {
    need_metrics(endpoints, candidates);
    std::int64_t longest = 0;
    for (const std::uint32_t e : candidates) longest = std::max(longest, endpoints.waiting[e]);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::uint32_t e = candidates[i];
      const auto most = static_cast<double>(longest);
      const double queue = longest > 0 ? (most - static_cast<double>(endpoints.waiting[e])) / most : 1;
      const PrefixMatch& m = endpoints.prefix[e];
      const double prefix =
          m.total_blocks > 0 ? static_cast<double>(m.match_blocks) / static_cast<double>(m.total_blocks) : 0;
      const double sum = kv_weight_ * (1 - endpoints.kv_usage[e]) + queue_weight_ * queue + prefix_weight_ * prefix;
      scores[i] = std::round(100 * sum) / 100;
    }
  }

  double ttft_weight_, tpot_weight_;
  bool most_;
  double kv_weight_, queue_weight_, prefix_weight_;
};

}  // namespace

void add_latency_scorer(std::vector<PluginInfo>& table) {
  constexpr auto kNumber = ParameterKind::kNumber;
  table.push_back(
      {"latency-scorer",
       "scorer",
       "llm-d",
       "least (or most) predicted headroom first, in hundredths from 0.01 to 1.01; where every endpoint would miss its "
       "objectives, idle ones, then those that miss TPOT, TTFT, both; without predictions queue, KV use and prefix",
       {{"ttftWeight", kNumber, "0.8", "[0, inf)", "weight of TTFT headroom; both 0: TTFT alone"},
        {"tpotWeight", kNumber, "0.2", "[0, inf)", "weight of TPOT headroom"},
        {"headroomSelectionStrategy", ParameterKind::kText, "least", "least|most", "which headroom is best"},
        {"compositeKVWeight", kNumber, "1", "[0, inf)", "without predictions: of free KV; all 0: KV alone"},
        {"compositeQueueWeight", kNumber, "1", "[0, inf)", "without predictions: of the queue"},
        {"compositePrefixWeight", kNumber, "1", "[0, inf)", "without predictions: of the prefix"}},
       make_of_settings<LatencyScorer>});
}

}  // namespace poolcast::routing
