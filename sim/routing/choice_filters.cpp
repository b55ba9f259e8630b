// SPDX-License-Identifier: Apache-2.0
// Filters that narrow the choice by rules of their own.
// Sources: smg 73da68ca power_of_two and Ray's PowerOfTwoChoices; AIBrix e3e10f9e prefix-cache.
#include <algorithm>
#include <cmath>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class TwoChoices : public Plugin, public Filter {
 public:
  TwoChoices(const Settings& settings, const BuildContext& context)
      : by_kv_(settings.text("load") == "kv-usage"), random_(context.random) {}

  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    if (kept.size() < 2) return;
    std::sort(kept.begin(), kept.end());
    const std::uint64_t first = random_.below(kept.size()), offset = random_.below(kept.size() - 1) + 1;
    const std::uint32_t a = kept[first], b = kept[(first + offset) % kept.size()];
    kept.assign(1, load(endpoints, b) < load(endpoints, a) ? b : a);
  }

 private:
  double load(const Endpoints& endpoints, std::uint32_t e) const {
    return by_kv_ ? endpoints.kv_usage[e] : static_cast<double>(endpoints.in_flight_requests[e]);
  }

  bool by_kv_;
  RandomStream random_;
};

/// Keeps the endpoints that the rule of AIBrix's prefix-cache chooses among.
class PrefixOrLeast : public Plugin, public Filter {
 public:
  explicit PrefixOrLeast(const Settings& settings)
      : imbalance_(settings.integer("imbalance_abs_count")),
        deviations_(settings.number("standard_deviation_factor")) {}

  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    const auto load = [&](std::uint32_t e) { return endpoints.in_flight_requests[e]; };
    const auto match = [&](std::uint32_t e) { return endpoints.prefix[e].match_blocks; };
    std::int64_t least = INT64_MAX, most = 0;
    double sum = 0, squares = 0;
    for (const std::uint32_t e : kept) {
      least = std::min(least, load(e));
      most = std::max(most, load(e));
      sum += static_cast<double>(load(e));
      squares += static_cast<double>(load(e)) * static_cast<double>(load(e));
    }
    const auto n = static_cast<double>(kept.size());
    const double mean = n > 0 ? sum / n : 0;
    const double limit = mean + deviations_ * std::sqrt(std::max(0.0, n > 0 ? squares / n - mean * mean : 0));
    std::int64_t best = 0;
    if (most - least <= imbalance_) {
      for (const std::uint32_t e : kept) {
        if (static_cast<double>(load(e)) <= limit) best = std::max(best, match(e));
      }
    }
    std::erase_if(kept, [&](std::uint32_t e) {
      if (best == 0) return load(e) != least;
      return match(e) != best || static_cast<double>(load(e)) > limit;
    });
  }

 private:
  std::int64_t imbalance_;
  double deviations_;
};

}  // namespace

void add_choice_filters(std::vector<PluginInfo>& table) {
  table.push_back({"two-choices-filter",
                   "filter",
                   "smg, Ray",
                   "keep the less loaded of two endpoints drawn at random, the first drawn of equals",
                   {{"load", ParameterKind::kText, "requests", "requests|kv-usage", "what is compared"}},
                   make_of_both<TwoChoices>});
  table.push_back(
      {"prefix-or-least-request-filter",
       "filter",
       "AIBrix",
       "where requests in flight differ by at most imbalance_abs_count, keep those with the longest match among the "
       "endpoints at most standard_deviation_factor deviations above the mean; without a match, or else, the least "
       "loaded",
       {{"imbalance_abs_count", ParameterKind::kInteger, "8", "[0, inf)", "most difference of requests in flight"},
        {"standard_deviation_factor", ParameterKind::kNumber, "1", "[0, inf)", "deviations above the mean"}},
       make_of_settings<PrefixOrLeast>});
}

}  // namespace poolcast::routing
