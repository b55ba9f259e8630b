// SPDX-License-Identifier: Apache-2.0
// What Gateway does where the scenario states rules.
#include "sim/gateway.h"

#include <algorithm>

#include "sim/portable_math.h"
#include "sim/random.h"

namespace poolcast {
namespace {

template <class Id>
void follow(Id at, const std::vector<std::vector<Id>>& lists, std::vector<Id>& way) {
  for (const Id next : lists[at.value]) {
    if (std::find(way.begin(), way.end(), next) != way.end()) continue;
    way.push_back(next);
    follow(next, lists, way);
  }
}

/// Each entry's list with the lists of its members behind them; `lists` has no circle.
template <class Id>
std::vector<std::vector<Id>> followed(const std::vector<std::vector<Id>>& lists, std::size_t size) {
  std::vector<std::vector<Id>> ways(size);
  for (std::size_t i = 0; i < lists.size(); ++i) follow(Id(i), lists, ways[i]);
  return ways;
}

}  // namespace

void Gateway::prepare_rules() {
  model_of_.resize(spec_.pools.size());
  for (std::size_t m = 0; m < spec_.models.size(); ++m) {
    std::int32_t first = INT32_MAX;
    for (const ImplementationSpec& implementation : spec_.models[m].implementations) {
      const std::size_t pool = implementation.pool.value;
      model_of_[pool] = ModelId(m);
      if (!rules_.priority.empty() && weight_[pool] > 0 && spec_.pools[pool].role != PoolRole::kPrefill) {
        first = std::min(first, rules_.priority[pool]);
      }
    }
    first_tier_.push_back(first);
  }
  for (const PoolSpec& pool : spec_.pools) sticky_streams_.push_back("gateway/sticky/" + pool.name);
  pools_after_ = followed(rules_.pool_fallbacks, spec_.pools.size());
  models_after_ = followed(rules_.model_fallbacks, spec_.models.size());
  longer_models_ = followed(rules_.context_fallbacks, spec_.models.size());
}

Gateway::Filter Gateway::ruled_filter(const RequestRecord& request, ModelId model, bool first_tier_closed,
                                      SimTime now) const {
  Filter filter;
  filter.model = model;
  filter.via = model == request.model ? Via::kGateway : Via::kFallback;
  filter.ruled = true;
  filter.first_tier_closed = first_tier_closed;
  filter.now = now;
  return filter;
}

Gateway::Choice Gateway::choose(const RequestRecord& request, ModelId model, bool first_tier_closed, SimTime now) {
  const Filter filter = ruled_filter(request, model, first_tier_closed, now);
  return choose(request, request.output_target, filter, *policies_[model.value]);
}

/// Whether the rules let the policy choose this pool, whatever its state.
bool Gateway::in_reach(const RequestRecord& request, PoolId pool, const Filter& filter) const {
  if (filter.first_tier_closed && rules_.priority[pool.value] == first_tier_[filter.model.value]) return false;
  for (const LengthTier& tier : rules_.length_tiers) {
    if (request.prompt_tokens < tier.min || request.prompt_tokens > tier.max) continue;
    const auto is_ours = [&](PoolId p) { return model_of(p) == filter.model; };
    if (std::none_of(tier.pools.begin(), tier.pools.end(), is_ours)) continue;
    return std::find(tier.pools.begin(), tier.pools.end(), pool) != tier.pools.end();
  }
  return true;
}

void Gateway::keep_first_tier() {
  if (rules_.priority.empty()) return;
  std::int32_t first = INT32_MAX;
  for (const std::uint32_t pool : open_) first = std::min(first, rules_.priority[pool]);
  std::erase_if(open_, [&](std::uint32_t pool) { return rules_.priority[pool] != first; });
}

void Gateway::keep_cheapest() {
  if (rules_.price.empty()) return;
  double least = rules_.price[open_[0]];
  for (const std::uint32_t pool : open_) least = std::min(least, rules_.price[pool]);
  std::erase_if(open_, [&](std::uint32_t pool) { return rules_.price[pool] > least; });
}

/// Weighted rendezvous (Schindelhauer, Schomaker: "Weighted distributed hash tables", 2005): the pool with the highest
/// weight / -ln(hash of session and pool). A share of the sessions as large as its weight prefers each pool, and when a
/// weight grows against the others sessions move to that pool only.
std::uint32_t Gateway::stay(const RequestRecord& request) const {
  const std::uint64_t who = content_id(request.source.value, request.session);
  std::uint32_t best = open_[0];
  double highest = -1;
  for (const std::uint32_t pool : open_) {
    const double score = weight_[pool] / -portable_log(RandomStream(spec_.seed, sticky_streams_[pool], who).uniform());
    if (score > highest) best = pool;
    highest = std::max(highest, score);
  }
  return best;
}

void Gateway::fell_back(FallbackReport::Kind kind, std::uint32_t from, PoolId to) {
  FallbackReport way{kind, from, to, 1};
  const auto known =
      std::find_if(fallbacks_.begin(), fallbacks_.end(), [&](const FallbackReport& f) { return f.same_way(way); });
  if (known == fallbacks_.end()) {
    fallbacks_.push_back(way);
  } else {
    ++known->requests;
  }
}

GatewayReport Gateway::report(SimTime end) const {
  GatewayReport report;
  report.has_fallbacks = rules_.has_fallbacks();
  report.fallbacks = fallbacks_;
  std::sort(report.fallbacks.begin(), report.fallbacks.end(), [](const FallbackReport& a, const FallbackReport& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  report.cooldowns = cooldowns_.report(end);
  report.quotas = quotas_.report();
  return report;
}

}  // namespace poolcast
