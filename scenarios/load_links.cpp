// SPDX-License-Identifier: Apache-2.0
// What pools and models know of each other.
#include <fmt/format.h>

#include "scenarios/load_parts.h"
#include "scenarios/resolve_parts.h"

namespace poolcast {
namespace {

constexpr std::size_t kNobody = SIZE_MAX;

std::size_t find_pool(const std::vector<PoolEntry>& pools, const YamlNode& node) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].name == node.text()) return i;
    names.push_back(pools[i].name);
  }
  node.fail("no pool is named " + quote(node.text()), spelling_hint(node.text(), names));
}

/// Names every pool when the file names none.
void fill_implementations(std::vector<LogicalModel>& models, const std::vector<PoolEntry>& pools) {
  for (LogicalModel& model : models) {
    if (!model.implementations.empty()) continue;
    if (models.size() > 1) {
      model.at.fail("missing key \"implementations\": with several models each says which pools serve it");
    }
    for (const PoolEntry& pool : pools) {
      model.implementations.emplace_back();
      model.implementations.back().pool = pool.name;
    }
  }
}

YamlNode implementation_node(const LogicalModel& model, std::size_t index) {
  const auto list = model.at.find("implementations");
  return list ? deepest(list->one_or_more().at(index), {"pool"}) : model.at;
}

/// A name in a contract that is one of the model's own pools.
void check_pool_of(const YamlNode& node, std::size_t model, const std::vector<PoolEntry>& pools) {
  const std::size_t pool = find_pool(pools, node);
  if (pools[pool].model != model) node.fail("pool " + quote(node.text()) + " serves another model");
  if (pools[pool].role != PoolRole::kBoth)
    node.fail("a pool with role " + std::string(name(pools[pool].role)) + " serves half a request only");
}

void check_contract(const LogicalModel& model, std::size_t index, const std::vector<PoolEntry>& pools) {
  for (const DataHandling& handling : model.contract.data_handling) {
    if (handling.pools.empty()) continue;
    for (const YamlNode& pool : deepest(handling.at, {"pools"}).one_or_more()) find_pool(pools, pool);
  }
  if (!model.contract.compatibility_pool.empty()) {
    check_pool_of(deepest(model.at, {"contract", "compatibility_pool"}), index, pools);
  }
  if (model.contract.cost && !model.contract.cost->incumbent.empty()) {
    check_pool_of(deepest(model.contract.cost->at, {"incumbent"}), index, pools);
  }
}

/// What was built for one layout cannot run on another.
void check_artifact(const ImplementationEntry& entry, const PoolEntry& pool) {
  if (!entry.artifact.layout || *entry.artifact.layout == pool.layout) return;
  const auto text = [](const Layout& l) { return fmt::format("tp {} pp {} dp {} ep {}", l.tp, l.pp, l.dp, l.ep); };
  deepest(entry.at, {"artifact", "layout"})
      .fail(fmt::format("was built for {}, and pool {} has {}", text(*entry.artifact.layout), quote(pool.name),
                        text(pool.layout)));
}

}  // namespace

void link_models(std::vector<LogicalModel>& models, std::vector<PoolEntry>& pools) {
  fill_implementations(models, pools);
  std::vector<std::size_t> server(pools.size(), kNobody);
  for (std::size_t m = 0; m < models.size(); ++m) {
    for (std::size_t i = 0; i < models[m].implementations.size(); ++i) {
      const bool written = models[m].at.find("implementations").has_value();
      const YamlNode node = implementation_node(models[m], i);
      const std::size_t p = written ? find_pool(pools, node) : i;
      if (server[p] == m) node.fail("pool " + quote(pools[p].name) + " stands twice");
      if (server[p] != kNobody) {
        node.fail(fmt::format("pool {} serves model {} already; a pool serves one model", quote(pools[p].name),
                              quote(models[server[p]].name)));
      }
      server[p] = m;
      pools[p].model = m;
      pools[p].implementation = i;
    }
  }
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (server[p] == kNobody) {
      deepest(pools[p].at, {"name"}).fail("no model has an implementation on pool " + quote(pools[p].name));
    }
    check_artifact(models[pools[p].model].implementations[pools[p].implementation], pools[p]);
  }
  for (std::size_t m = 0; m < models.size(); ++m) check_contract(models[m], m, pools);
}

void complete_pool(PoolEntry& pool, const std::vector<LogicalModel>& models, const LoadContext& context) {
  complete_engine(pool, models[pool.model], context);
  if (!pool.engine.without_effect.empty()) {
    std::string names;
    for (const auto& [name, value] : pool.engine.without_effect) names += (names.empty() ? "" : ", ") + name;
    context.notes.push_back(fmt::format("pool {}: engine arguments without effect here: {}", pool.name, names));
  }
}

}  // namespace poolcast
