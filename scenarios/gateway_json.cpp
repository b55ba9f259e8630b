// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "scenarios/gateway_summary.h"
#include "scenarios/summary.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

double seconds(SimTime t) { return static_cast<double>(t) / 1e9; }

Json retries(const Summary& s) {
  Json list = Json::array();
  for (std::size_t c = 0; c < s.gateway.report.retries.size(); ++c) {
    const RetryReport& r = s.gateway.report.retries[c];
    const ClassSpec& cls = s.facts.classes[c];
    list.push_back({{"model", s.facts.models[cls.model.value]},
                    {"class", cls.name},
                    {"attempts", r.attempts},
                    {"retries", r.retries},
                    {"denied_by_budget", r.denied},
                    {"exhausted", r.exhausted},
                    {"too_late", r.too_late},
                    {"lost_tokens", r.lost_tokens}});
  }
  return list;
}

Json fallbacks(const Summary& s) {
  constexpr const char* kKinds[] = {"pool", "model", "context_window"};
  Json list = Json::array();
  for (const FallbackReport& f : s.gateway.report.fallbacks) {
    const bool of_pool = f.kind == FallbackReport::Kind::kPool;
    list.push_back({{"kind", kKinds[static_cast<int>(f.kind)]},
                    {"from", of_pool ? s.facts.pools[f.from].name : s.facts.models[f.from]},
                    {"to", s.facts.pools[f.to.value].name},
                    {"requests", f.requests}});
  }
  return list;
}

Json cooldowns(const Summary& s) {
  Json list = Json::array();
  for (std::size_t p = 0; p < s.gateway.report.cooldowns.size(); ++p) {
    const CooldownReport& c = s.gateway.report.cooldowns[p];
    if (!s.gateway.rules.cooldowns[p]) continue;
    list.push_back({{"pool", s.facts.pools[p].name},
                    {"failures", c.failures},
                    {"begun", c.begun},
                    {"rested_s", seconds(c.rested)}});
  }
  return list;
}

Json quotas(const Summary& s) {
  Json list = Json::array();
  for (std::size_t q = 0; q < s.gateway.report.quotas.size(); ++q) {
    const QuotaSpec& spec = s.gateway.rules.quotas[q];
    const QuotaReport& r = s.gateway.report.quotas[q];
    const ModelId model = spec.cls.valid() ? s.facts.classes[spec.cls.value].model : spec.model;
    list.push_back({{"model", model.valid() ? Json(s.facts.models[model.value]) : Json()},
                    {"class", spec.cls.valid() ? Json(s.facts.classes[spec.cls.value].name) : Json()},
                    {"unit", spec.counts_tokens ? "tokens" : "requests"},
                    {"limit", spec.limit},
                    {"per_s", seconds(spec.per)},
                    {"shadow", spec.shadow},
                    {"passed", r.passed},
                    {"beyond", r.beyond},
                    {"tokens", r.tokens}});
  }
  return list;
}

Json mirrors(const Summary& s) {
  Json list = Json::array();
  for (std::size_t m = 0; m < s.gateway.report.mirrors.size(); ++m) {
    const MirrorSpec& spec = s.gateway.rules.mirrors[m];
    const MirrorReport& r = s.gateway.report.mirrors[m];
    const auto at = [&](Metric metric, double q) {
      const Histogram& h = r.cell.latencies[metric];
      return h.count() == 0 ? Json() : Json(seconds(h.quantile(q)));
    };
    const auto& cost = s.gateway.mirror_costs[m];
    list.push_back({{"from", s.facts.pools[spec.from.value].name},
                    {"to", s.facts.pools[spec.to.value].name},
                    {"share", spec.share},
                    {"copies", r.sent},
                    {"refused", r.refused},
                    {"completed", r.cell.outcomes.count(Outcome::kCompleted)},
                    {"prompt_tokens", r.cell.outcomes.prompt_tokens},
                    {"output_tokens", r.cell.outcomes.output_tokens},
                    {"ttft_p50_s", at(Metric::kTtft, 0.5)},
                    {"ttft_p99_s", at(Metric::kTtft, 0.99)},
                    {"tpot_p50_s", at(Metric::kTpot, 0.5)},
                    {"tpot_p99_s", at(Metric::kTpot, 0.99)},
                    {"cost_usd", cost ? Json(cost->value) : Json()},
                    {"cost_counts", spec.cost_counts}});
  }
  return list;
}

}  // namespace

nlohmann::ordered_json gateway_json(const Summary& s) {
  const GatewayReport& r = s.gateway.report;
  Json json = Json::object();
  if (!r.retries.empty()) json["retries"] = retries(s);
  if (r.has_fallbacks) json["fallbacks"] = fallbacks(s);
  if (!r.cooldowns.empty()) json["cooldowns"] = cooldowns(s);
  if (!r.quotas.empty()) json["quotas"] = quotas(s);
  if (!r.mirrors.empty()) json["mirrors"] = mirrors(s);
  return json;
}

}  // namespace poolcast
