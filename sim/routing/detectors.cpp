// SPDX-License-Identifier: Apache-2.0
// Saturation detectors, which are filters too. Source: llm-d's utilization-detector, concurrency-detector.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class UtilizationDetector : public Plugin, public Filter, public Detector {
 public:
  explicit UtilizationDetector(const Settings& settings)
      : queue_(settings.number("queueDepthThreshold")),
        kv_(settings.number("kvCacheUtilThreshold")),
        stale_ms_(settings.milliseconds("metricsStalenessThreshold")),
        headroom_(settings.number("headroom")),
        ignore_stale_(settings.text("stalenessPolicy") == "ignore") {}

  double saturation(const Endpoints& endpoints, std::span<const std::uint32_t> candidates) override {
    if (candidates.empty()) return 1;
    double sum = 0;
    for (const std::uint32_t e : candidates) {
      sum += stale(endpoints, e)
                 ? 1.0
                 : std::max(static_cast<double>(endpoints.waiting[e]) / queue_, endpoints.kv_usage[e] / kv_);
    }
    return sum / static_cast<double>(candidates.size());
  }

  /// Fails open: where every endpoint is beyond its limits, all are kept.
  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    const auto keep = [&](std::uint32_t e) {
      return !stale(endpoints, e) && static_cast<double>(endpoints.waiting[e]) < queue_ * (1 + headroom_) &&
             endpoints.kv_usage[e] < kv_ * (1 + headroom_);
    };
    if (std::none_of(kept.begin(), kept.end(), keep)) return;
    std::erase_if(kept, [&](std::uint32_t e) { return !keep(e); });
  }

 private:
  bool stale(const Endpoints& endpoints, std::uint32_t e) const {
    if (!endpoints.no_metrics.empty() && endpoints.no_metrics[e] != 0) return true;
    return !ignore_stale_ && endpoints.metric_age_ms[e] > stale_ms_;
  }

  double queue_, kv_, stale_ms_, headroom_;
  bool ignore_stale_;
};

class ConcurrencyDetector : public Plugin, public Filter, public Detector {
 public:
  explicit ConcurrencyDetector(const Settings& settings)
      : requests_(settings.number("maxConcurrency")), tokens_(settings.number("maxTokenConcurrency")) {
    const std::string& mode = settings.text("concurrencyMode");
    by_requests_ = mode != "tokens";
    by_tokens_ = mode != "requests";
    const double room = 1 + settings.number("headroom");
    request_limit_ = static_cast<std::int64_t>(requests_ * room);
    token_limit_ = static_cast<std::int64_t>(tokens_ * room);
  }

  double saturation(const Endpoints& endpoints, std::span<const std::uint32_t> candidates) override {
    if (candidates.empty()) return 1;
    if (by_requests_ && by_tokens_) return mean_of_worse(endpoints, candidates);
    const auto& counts = by_tokens_ ? endpoints.in_flight_tokens : endpoints.in_flight_requests;
    std::int64_t sum = 0;
    for (const std::uint32_t e : candidates) sum += counts[e];
    return static_cast<double>(sum) / (static_cast<double>(candidates.size()) * (by_tokens_ ? tokens_ : requests_));
  }

  /// Fails closed: nothing may be left.
  void filter(const RequestView&, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    std::erase_if(kept, [&](std::uint32_t e) {
      return (by_requests_ && endpoints.in_flight_requests[e] >= request_limit_) ||
             (by_tokens_ && endpoints.in_flight_tokens[e] >= token_limit_);
    });
  }

 private:
  double mean_of_worse(const Endpoints& endpoints, std::span<const std::uint32_t> candidates) const {
    double sum = 0;
    for (const std::uint32_t e : candidates) {
      sum += std::max(static_cast<double>(endpoints.in_flight_requests[e]) / requests_,
                      static_cast<double>(endpoints.in_flight_tokens[e]) / tokens_);
    }
    return sum / static_cast<double>(candidates.size());
  }

  double requests_, tokens_;
  bool by_requests_, by_tokens_;
  std::int64_t request_limit_, token_limit_;
};

}  // namespace

void add_detectors(std::vector<PluginInfo>& table) {
  constexpr auto kNumber = ParameterKind::kNumber;
  constexpr auto kInteger = ParameterKind::kInteger;
  table.push_back(
      {"utilization-detector",
       "filter and detector",
       "llm-d",
       "mean over endpoints of max(waiting / queueDepthThreshold, KV use / kvCacheUtilThreshold), 1 for stale ones",
       {{"queueDepthThreshold", kInteger, "5", "(0, inf)", "waiting requests that count as saturated"},
        {"kvCacheUtilThreshold", kNumber, "0.8", "(0, 1]", "share of KV in use that counts as saturated"},
        {"metricsStalenessThreshold", ParameterKind::kDuration, "200ms", "(0, inf)", "older metrics are stale"},
        {"headroom", kNumber, "0", "[0, inf)", "as a filter: how far beyond the limits is still kept"},
        {"stalenessPolicy", ParameterKind::kText, "saturated", "saturated|ignore", "what stale metrics mean"}},
       make_of_settings<UtilizationDetector>});
  table.push_back({"concurrency-detector",
                   "filter and detector",
                   "llm-d",
                   "requests or tokens in flight over what the endpoints may have together; hybrid: mean of the worse",
                   {{"maxConcurrency", kInteger, "100", "(0, inf)", "requests of one endpoint"},
                    {"headroom", kNumber, "0", "[0, inf)", "as a filter: how far beyond is still kept"},
                    {"concurrencyMode", ParameterKind::kText, "requests", "requests|tokens|hybrid", "what is counted"},
                    {"maxTokenConcurrency", kInteger, "1000000", "(0, inf)", "tokens of one endpoint"}},
                   make_of_settings<ConcurrencyDetector>});
}

}  // namespace poolcast::routing
