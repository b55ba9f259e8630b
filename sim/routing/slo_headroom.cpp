// SPDX-License-Identifier: Apache-2.0
// Rule: keep the endpoints that are predicted to meet the objectives, and now and then the others, to learn.
// Source: llm-d's slo-headroom-tier-filter.
#include <algorithm>

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

/// Source: AIBrix e3e10f9e slo-least-load and slo-pack-load, whose predictions come from a profile.
class SloLoad : public Plugin, public Filter {
 public:
  explicit SloLoad(const Settings& settings) : pack_(settings.text("load") == "pack") {}

  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    const auto meets = [&](std::uint32_t e) {
      if (endpoints.latency.empty() || !endpoints.latency[e].known) return false;
      return endpoints.latency[e].ttft_headroom_ms >= 0 && endpoints.latency[e].tpot_headroom_ms >= 0;
    };
    const bool any = std::any_of(kept.begin(), kept.end(), meets);
    if (any) std::erase_if(kept, [&](std::uint32_t e) { return !meets(e); });
    const bool most = any && pack_;
    const auto load = [&](std::uint32_t e) { return endpoints.in_flight_requests[e]; };
    std::int64_t best = most ? 0 : INT64_MAX;
    for (const std::uint32_t e : kept) best = most ? std::max(best, load(e)) : std::min(best, load(e));
    std::erase_if(kept, [&](std::uint32_t e) { return load(e) != best; });
  }

 private:
  bool pack_;
};

}  // namespace

void add_slo_headroom(std::vector<PluginInfo>& table) {
  table.push_back({"slo-load-filter",
                   "filter",
                   "AIBrix",
                   "of the endpoints predicted to meet both objectives keep those with the fewest (pack: the most) "
                   "requests in flight; where none is, the fewest of all",
                   {{"load", ParameterKind::kText, "least", "least|pack", "which of those that meet them"}},
                   make_of_settings<SloLoad>});
  table.push_back(
      {"slo-headroom-tier-filter",
       "filter",
       "llm-d",
       "keep the endpoints predicted to meet both objectives, if any; else all, those without a prediction last",
       {{"epsilonExploreNeg", ParameterKind::kNumber, "0.01", "[0, 1]", "how often the others are kept instead"}},
       make_of_both<SloHeadroomTier>});
}

}  // namespace poolcast::routing
