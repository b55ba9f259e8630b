// SPDX-License-Identifier: Apache-2.0
// Rule: stay with the endpoints that hold most of the prompt, unless the wait there costs too much.
// Source: llm-d's prefix-cache-affinity-filter.
#include <algorithm>
#include <limits>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class PrefixAffinity : public Plugin, public Filter {
 public:
  PrefixAffinity(const Settings& settings, const BuildContext& context)
      : threshold_(settings.number("affinityThreshold")),
        explore_(settings.number("explorationProbability")),
        max_penalty_ms_(settings.number("maxTTFTPenaltyMs")),
        predicted_(settings.text("ttftSource") == "latencyPredictor"),
        throughput_(settings.number("peakPrefillThroughput")),
        random_(context.random) {
    if (!predicted_ && throughput_ <= 0) {
      throw ParameterFault({"peakPrefillThroughput"}, "must be above 0 where ttftSource is prefillThroughput");
    }
  }

  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    if (kept.size() <= 1 || threshold_ <= 0) return;
    if (explore_ > 0 && random_.uniform() < explore_) return;
    double best_sticky = kNoPrediction, best_other = kNoPrediction;
    std::size_t sticky = 0;
    for (const std::uint32_t e : kept) {
      const bool sticks = is_sticky(endpoints, e);
      double& best = sticks ? best_sticky : best_other;
      best = std::min(best, ttft_ms(endpoints, e));
      sticky += sticks;
    }
    if (sticky == 0 || sticky == kept.size()) return;
    if (max_penalty_ms_ > 0 && best_sticky - best_other > max_penalty_ms_) return;
    std::erase_if(kept, [&](std::uint32_t e) { return !is_sticky(endpoints, e); });
  }

 private:
  static constexpr double kNoPrediction = std::numeric_limits<double>::max();

  bool is_sticky(const Endpoints& endpoints, std::uint32_t e) const {
    const PrefixMatch& m = endpoints.prefix[e];
    if (m.total_blocks <= 0) return 0 >= threshold_;
    return static_cast<double>(m.match_blocks) / static_cast<double>(m.total_blocks) >= threshold_;
  }

  double ttft_ms(const Endpoints& endpoints, std::uint32_t e) const {
    if (!predicted_) return static_cast<double>(endpoints.in_flight_tokens[e]) / throughput_ * 1000;
    return !endpoints.latency.empty() && endpoints.latency[e].known ? endpoints.latency[e].ttft_ms : kNoPrediction;
  }

  double threshold_, explore_, max_penalty_ms_;
  bool predicted_;
  double throughput_;
  RandomStream random_;
};

}  // namespace

void add_prefix_affinity(std::vector<PluginInfo>& table) {
  constexpr auto kNumber = ParameterKind::kNumber;
  table.push_back(
      {"prefix-cache-affinity-filter",
       "filter",
       "llm-d",
       "keep the endpoints that hold at least affinityThreshold of the prompt's blocks, if any, unless the best TTFT "
       "among them is more than maxTTFTPenaltyMs above the best elsewhere",
       {{"affinityThreshold", kNumber, "0.8", "(-inf, 1]", "share of blocks; 0 or below: keep all"},
        {"explorationProbability", kNumber, "0", "[0, 1]", "how often all are kept all the same"},
        {"maxTTFTPenaltyMs", kNumber, "18000", "[0, inf)", "0: whatever it costs"},
        {"ttftSource", ParameterKind::kText, "prefillThroughput", "prefillThroughput|latencyPredictor",
         "tokens in flight over peakPrefillThroughput, or the predictor"},
        {"peakPrefillThroughput", kNumber, "15928", "", "tokens per second"}},
       make_of_both<PrefixAffinity>});
}

}  // namespace poolcast::routing
