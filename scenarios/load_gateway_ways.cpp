// SPDX-License-Identifier: Apache-2.0
// Of `routing.gateway`: where requests go. length_tiers, fallbacks, mirror.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "scenarios/load_gateway_parts.h"
#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {

std::vector<LengthTier> load_length_tiers(const YamlNode& node, const std::vector<PoolEntry>& pools) {
  std::vector<LengthTier> tiers;
  for (const YamlNode& item : node.one_or_more()) {
    LengthTier tier;
    MappingReader reader(item);
    if (const auto range = reader.optional("prompt_tokens")) {
      const auto [min, max] = load_pair(*range);
      tier.min = load_bound(min, 0);
      tier.max = load_bound(max, INT64_MAX);
      if (tier.max < tier.min) range->fail("the range ends before it begins");
    }
    const YamlNode named = reader.required("pools");
    for (const YamlNode& pool : named.one_or_more()) {
      const PoolId id = find_pool(pool, pools);
      if (std::find(tier.pools.begin(), tier.pools.end(), id) != tier.pools.end()) pool.fail("stands twice");
      tier.pools.push_back(id);
    }
    if (tier.pools.empty()) named.fail("needs at least one pool");
    reader.finish();
    tiers.push_back(std::move(tier));
  }
  return tiers;
}

namespace {

/// Follows the lists from `at`; one that comes back to an entry on the way there is a circle.
template <class Id>
void check_circles(const YamlNode& node, const std::vector<std::vector<Id>>& next,
                   const std::vector<std::string>& names) {
  std::vector<Id> way;
  std::vector<bool> done(next.size(), false);
  const std::function<void(Id)> visit = [&](Id at) {
    if (const auto before = std::find(way.begin(), way.end(), at); before != way.end()) {
      std::string circle;
      for (auto step = before; step != way.end(); ++step) circle += names[step->value] + " -> ";
      node.fail("the fallbacks go in a circle: " + circle + names[at.value]);
    }
    if (done[at.value]) return;
    way.push_back(at);
    for (const Id id : next[at.value]) visit(id);
    way.pop_back();
    done[at.value] = true;
  };
  for (std::size_t i = 0; i < next.size(); ++i) visit(Id(i));
}

/// Names of one kind to lists of names of the same kind.
template <class Id, class Find>
std::vector<std::vector<Id>> load_lists(const YamlNode& node, const std::vector<std::string>& names, Find find) {
  std::vector<std::vector<Id>> lists(names.size());
  MappingReader reader(node);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto list = reader.optional(names[i]);
    if (!list) continue;
    for (const YamlNode& item : list->one_or_more()) {
      const Id next = find(item);
      if (next == Id(i)) item.fail("falls back to itself");
      if (std::find(lists[i].begin(), lists[i].end(), next) != lists[i].end()) item.fail("stands twice in this list");
      lists[i].push_back(next);
    }
  }
  reader.finish();
  check_circles(node, lists, names);
  return lists;
}

}  // namespace

void load_fallbacks(const YamlNode& node, const std::vector<LogicalModel>& models, const std::vector<PoolEntry>& pools,
                    GatewayRules& rules) {
  std::vector<std::string> pool_names, model_names;
  for (const PoolEntry& pool : pools) pool_names.push_back(pool.name);
  for (const LogicalModel& model : models) model_names.push_back(model.name);
  MappingReader reader(node);
  if (const auto lists = reader.optional("pools")) {
    rules.pool_fallbacks =
        load_lists<PoolId>(*lists, pool_names, [&](const YamlNode& item) { return find_pool(item, pools); });
    for (std::size_t p = 0; p < pools.size(); ++p) {
      for (const PoolId next : rules.pool_fallbacks[p]) {
        if (pools[p].model == pools[next.value].model) continue;
        lists->fail(fmt::format("pool {} serves another model than {}: `models` names models to fall back to",
                                pools[next.value].name, pools[p].name));
      }
    }
  }
  const auto load_models = [&](const YamlNode& lists) {
    auto found =
        load_lists<ModelId>(lists, model_names, [&](const YamlNode& item) { return find_model(item, models); });
    for (std::size_t m = 0; m < models.size(); ++m) {
      for (const ModelId next : found[m]) {
        if (models[m].task == models[next.value].task) continue;
        lists.fail(fmt::format("model {} has another task than {}", model_names[next.value], model_names[m]));
      }
    }
    return found;
  };
  if (const auto lists = reader.optional("models")) rules.model_fallbacks = load_models(*lists);
  if (const auto lists = reader.optional("context_window")) rules.context_fallbacks = load_models(*lists);
  reader.finish();
}

std::vector<MirrorSpec> load_mirrors(const YamlNode& node, const std::vector<PoolEntry>& pools) {
  std::vector<MirrorSpec> mirrors;
  for (const YamlNode& item : node.one_or_more()) {
    MirrorSpec mirror;
    MappingReader reader(item);
    const YamlNode from = reader.required("from"), to = reader.required("to");
    mirror.from = find_pool(from, pools);
    mirror.to = find_pool(to, pools);
    if (mirror.from == mirror.to) to.fail("is the pool whose requests are copied");
    if (pools[mirror.from.value].model != pools[mirror.to.value].model) {
      to.fail(fmt::format("serves another model than {}", quote(from.text())));
    }
    for (const YamlNode& end : {from, to}) {
      if (pools[find_pool(end, pools).value].role != PoolRole::kBoth) {
        end.fail("copies where prefill and decode are apart are not modelled yet");
      }
    }
    if (const auto share = reader.optional("share")) mirror.share = read_share(*share);
    if (const auto cost = reader.optional("cost")) mirror.cost_counts = cost->choice({"apart", "counts"}) == 1;
    reader.finish();
    mirrors.push_back(mirror);
  }
  return mirrors;
}

}  // namespace poolcast
