// SPDX-License-Identifier: Apache-2.0
// Rule: keep the endpoints that are predicted to meet the objectives, and now and then the others, to learn.
// Source: llm-d's slo-headroom-tier-filter.
#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class SloHeadroomTier : public Plugin, public Filter {
 public:
  SloHeadroomTier(const Settings& settings, const BuildContext& context)
      : explore_(settings.number("epsilonExploreNeg")), random_(context.random) {}

  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    if (kept.size() <= 1) return;
    good_.clear();
    bad_.clear();
    unknown_.clear();
    for (const std::uint32_t e : kept) tier(endpoints, e).push_back(e);
    bad_.insert(bad_.end(), unknown_.begin(), unknown_.end());
    const bool explore = !good_.empty() && !bad_.empty() && random_.uniform() < explore_;
    kept = good_.empty() || explore ? bad_ : good_;
  }

 private:
  std::vector<std::uint32_t>& tier(const Endpoints& endpoints, std::uint32_t e) {
    if (endpoints.latency.empty() || !endpoints.latency[e].known) return unknown_;
    const LatencyPrediction& p = endpoints.latency[e];
    return p.ttft_headroom_ms >= 0 && p.tpot_headroom_ms >= 0 ? good_ : bad_;
  }

  double explore_;
  RandomStream random_;
  std::vector<std::uint32_t> good_, bad_, unknown_;  ///< scratch
};

}  // namespace

void add_slo_headroom(std::vector<PluginInfo>& table) {
  table.push_back(
      {"slo-headroom-tier-filter",
       "filter",
       "llm-d",
       "keep the endpoints predicted to meet both objectives, if any; else all, those without a prediction last",
       {{"epsilonExploreNeg", ParameterKind::kNumber, "0.01", "[0, 1]", "how often the others are kept instead"}},
       make_of_both<SloHeadroomTier>});
}

}  // namespace poolcast::routing
