// SPDX-License-Identifier: Apache-2.0
#include "scenarios/gateway_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/human.h"
#include "scenarios/summary.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

std::string count(std::int64_t value) { return human_count(static_cast<std::uint64_t>(value)); }

std::string class_label(const Summary& s, std::size_t cls) {
  const ClassSpec& spec = s.facts.classes[cls];
  return s.facts.models.size() > 1 ? s.facts.models[spec.model.value] + "/" + spec.name : spec.name;
}

std::string line(const char* lead, const std::vector<std::string>& parts) {
  return parts.empty() ? "" : wrapped(lead, fmt::format("{}", fmt::join(parts, "; ")));
}

std::string retries(const Summary& s) {
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < s.gateway.report.retries.size(); ++c) {
    const RetryReport& r = s.gateway.report.retries[c];
    if (s.facts.classes[c].retry.max == 0) continue;
    std::string part =
        fmt::format("{}: {} in {} tries", class_label(s, c), human_count(r.retries), human_count(r.attempts));
    if (r.denied > 0) part += fmt::format(", {} denied by the budget", human_count(r.denied));
    if (r.exhausted > 0) part += fmt::format(", {} sent as often as allowed", human_count(r.exhausted));
    if (r.too_late > 0) part += fmt::format(", {} too late for their users", human_count(r.too_late));
    if (r.lost_tokens > 0) part += fmt::format(", {} tokens computed for nothing", count(r.lost_tokens));
    parts.push_back(std::move(part));
  }
  return line("Retries     ", parts);
}

std::string fallbacks(const Summary& s) {
  std::vector<std::string> parts;
  for (const FallbackReport& f : s.gateway.report.fallbacks) {
    const bool of_pool = f.kind == FallbackReport::Kind::kPool;
    parts.push_back(fmt::format(
        "{} from {}{} to {}", human_count(f.requests), of_pool ? s.facts.pools[f.from].name : s.facts.models[f.from],
        f.kind == FallbackReport::Kind::kContextWindow ? " (too long)" : "", s.facts.pools[f.to.value].name));
  }
  if (s.gateway.report.has_fallbacks && parts.empty()) parts.emplace_back("none taken");
  return line("Fallbacks   ", parts);
}

std::string cooldowns(const Summary& s) {
  std::vector<std::string> parts;
  for (std::size_t p = 0; p < s.gateway.report.cooldowns.size(); ++p) {
    const CooldownReport& c = s.gateway.report.cooldowns[p];
    if (!s.gateway.rules.cooldowns[p]) continue;
    parts.push_back(fmt::format("{}: {} after {} failures, {} in all", s.facts.pools[p].name, human_count(c.begun),
                                human_count(c.failures), human_span(to_seconds(c.rested).value)));
  }
  return line("Cooldowns   ", parts);
}

std::string quotas(const Summary& s) {
  std::vector<std::string> parts;
  for (std::size_t q = 0; q < s.gateway.report.quotas.size(); ++q) {
    const QuotaSpec& spec = s.gateway.rules.quotas[q];
    const QuotaReport& r = s.gateway.report.quotas[q];
    const std::string whose = spec.cls.valid()     ? class_label(s, spec.cls.value)
                              : spec.model.valid() ? s.facts.models[spec.model.value]
                                                   : "all";
    parts.push_back(fmt::format("{}: {} of {} requests beyond {} {} in {}{}", whose, human_count(r.beyond),
                                human_count(r.passed + r.beyond), count(spec.limit),
                                spec.counts_tokens ? "tokens" : "requests", human_span(to_seconds(spec.per).value),
                                spec.shadow ? " (counted only)" : ""));
  }
  return line("Quotas      ", parts);
}

std::string mirrors(const Summary& s) {
  std::vector<std::string> parts;
  for (std::size_t m = 0; m < s.gateway.report.mirrors.size(); ++m) {
    const MirrorSpec& spec = s.gateway.rules.mirrors[m];
    const MirrorReport& r = s.gateway.report.mirrors[m];
    const Histogram& ttft = r.cell.latencies[Metric::kTtft];
    std::string part = fmt::format("{} copies from {} to {}", human_count(r.sent), s.facts.pools[spec.from.value].name,
                                   s.facts.pools[spec.to.value].name);
    if (r.refused > 0) part += fmt::format(", {} refused", human_count(r.refused));
    if (ttft.count() > 0) {
      part += fmt::format(", TTFT p50 {} p99 {}", human_seconds(to_seconds(ttft.quantile(0.5)).value),
                          human_seconds(to_seconds(ttft.quantile(0.99)).value));
    }
    if (const auto cost = s.gateway.mirror_costs[m]) {
      part += fmt::format(", {}{}", human_usd(cost->value), spec.cost_counts ? "" : " beside the cost below");
    }
    parts.push_back(std::move(part));
  }
  return line("Mirror      ", parts);
}

}  // namespace

void add_mirror_costs(Summary& s) {
  double apart = 0;
  for (std::size_t m = 0; m < s.gateway.report.mirrors.size(); ++m) {
    const MirrorSpec& spec = s.gateway.rules.mirrors[m];
    const PoolSummary& pool = s.pools[spec.to.value];
    double copies = 0;
    for (std::size_t other = 0; other < s.gateway.report.mirrors.size(); ++other) {
      if (s.gateway.rules.mirrors[other].to != spec.to) continue;
      copies += static_cast<double>(s.gateway.report.mirrors[other].measured_tokens);
    }
    const Outcomes& users = pool.group.outcomes;
    const double all = static_cast<double>(users.prompt_tokens + users.output_tokens) + copies;
    const double own = static_cast<double>(s.gateway.report.mirrors[m].measured_tokens);
    std::optional<Dollars> cost;
    if (pool.cost.total) cost = *pool.cost.total * (all > 0 ? own / all : 0.0);
    s.gateway.mirror_costs.push_back(cost);
    if (cost && !spec.cost_counts) apart += cost->value;
  }
  if (apart <= 0 || !s.cost.total || s.cost.total->value <= 0) return;
  const double left = 1 - apart / s.cost.total->value;
  for (auto* const amount : {&s.cost.total, &s.cost.per_accepted_output, &s.cost.per_million_output_tokens,
                             &s.cost.per_million_accepted_tokens}) {
    if (*amount) *amount = **amount * left;
  }
  if (s.cost.per_hour) s.cost.per_hour = *s.cost.per_hour * left;
}

std::string gateway_text(const Summary& s) { return retries(s) + fallbacks(s) + cooldowns(s) + quotas(s) + mirrors(s); }

}  // namespace poolcast
