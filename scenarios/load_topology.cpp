// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/load_parts.h"
#include "scenarios/resolve_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

constexpr std::string_view kWhatIsNeeded =
    "topology: {links: [{between: [A, B], bandwidth: 50 GB/s, latency: 5 us}]}, with pools and switches for A and B";

std::vector<std::string_view> places(const TopologyEntry& topology, const std::vector<PoolEntry>& pools) {
  std::vector<std::string_view> names;
  for (const PoolEntry& pool : pools) names.push_back(pool.name);
  names.insert(names.end(), topology.switches.begin(), topology.switches.end());
  return names;
}

std::uint32_t load_place(const YamlNode& node, const std::vector<std::string_view>& places) {
  const auto at = std::find(places.begin(), places.end(), node.text());
  if (at == places.end()) {
    node.fail("no pool and no switch is named " + quote(node.text()), spelling_hint(node.text(), places));
  }
  return static_cast<std::uint32_t>(at - places.begin());
}

Link load_link(const YamlNode& node, const std::vector<std::string_view>& places) {
  Link link;
  MappingReader reader(node);
  const auto [a, b] = load_pair(reader.required("between"));
  link.a = load_place(a, places);
  link.b = load_place(b, places);
  if (link.a == link.b) b.fail("a link needs two different ends");
  const YamlNode bandwidth = reader.required("bandwidth");
  link.bandwidth = read_bytes_per_second(bandwidth);
  if (!(link.bandwidth.value > 0)) bandwidth.fail("must be above 0, got " + quote(bandwidth.text()));
  if (const auto latency = reader.optional("latency")) link.latency = read_seconds(*latency);
  reader.finish();
  return link;
}

/// A model whose pools decode only needs one that prefills, and the other way round.
void check_halves(const std::vector<LogicalModel>& models, const std::vector<PoolEntry>& pools) {
  for (std::size_t m = 0; m < models.size(); ++m) {
    const PoolEntry* halves[2] = {nullptr, nullptr};
    for (const PoolEntry& pool : pools) {
      if (pool.model != m || pool.role == PoolRole::kBoth) continue;
      const int half = pool.role == PoolRole::kPrefill ? 0 : 1;
      halves[half] = &pool;
      if (models[m].task != Task::kGenerate) {
        deepest(pool.at, {"role"}).fail("only models that generate text have a prompt and a decode to take apart");
      }
      if (halves[1 - half] && halves[1 - half]->kv_precision != pool.kv_precision) {
        deepest(pool.at, {"role"})
            .fail(fmt::format("its KV is {} and that of {} is {}: what moves must be alike", name(pool.kv_precision),
                              quote(halves[1 - half]->name), name(halves[1 - half]->kv_precision)));
      }
      if (models[m].shape) continue;
      deepest(pool.at, {"role"})
          .fail(fmt::format("the KV that moves is known from the shape of model {}, and it has none",
                            quote(models[m].name)));
    }
    for (int half = 0; half < 2; ++half) {
      if (!halves[half] || halves[1 - half]) continue;
      deepest(halves[half]->at, {"role"})
          .fail(fmt::format("no pool of model {} has the role {}", quote(models[m].name),
                            half == 0 ? "decode" : "prefill"));
    }
  }
}

void check_paths(const TopologyEntry& entry, const std::vector<PoolEntry>& pools) {
  const Topology topology = entry.graph(pools);
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    for (std::uint32_t d = 0; d < pools.size(); ++d) {
      if (pools[p].role != PoolRole::kPrefill || pools[d].role != PoolRole::kDecode) continue;
      if (pools[p].model != pools[d].model || topology.path(p, d).exists) continue;
      deepest(pools[p].at, {"role"})
          .fail(fmt::format("no links lead from {} to {}", quote(pools[p].name), quote(pools[d].name)),
                std::string(kWhatIsNeeded));
    }
  }
}

}  // namespace

Topology TopologyEntry::graph(const std::vector<PoolEntry>& pools) const {
  Topology topology;
  for (const std::string_view name : places(*this, pools)) topology.add_node(std::string(name));
  for (const Link& link : links) topology.connect(link);
  return topology;
}

TopologyEntry load_topology(const YamlNode& node, const std::vector<LogicalModel>& models,
                            const std::vector<PoolEntry>& pools) {
  TopologyEntry topology;
  MappingReader reader(node);
  std::vector<std::pair<std::string, YamlNode>> names;
  for (const PoolEntry& pool : pools) names.emplace_back(pool.name, pool.at);
  if (const auto switches = reader.optional("switches")) {
    for (const YamlNode& item : switches->one_or_more()) {
      topology.switches.push_back(item.text());
      names.emplace_back(item.text(), item);
    }
  }
  check_names(names);
  if (const auto links = reader.optional("links")) {
    for (const YamlNode& item : links->one_or_more()) {
      topology.links.push_back(load_link(item, places(topology, pools)));
    }
  }
  reader.not_modelled_yet({"failure_domains"});
  reader.finish();
  check_halves(models, pools);
  check_paths(topology, pools);
  return topology;
}

PoolRole load_role(const YamlNode& node, const EngineEntry& engine) {
  const std::size_t role = node.choice({"both", "prefill", "decode"});
  const auto* const bucketed = std::get_if<BucketedArgs>(&engine.settings.args);
  const bool vllm_loop = std::holds_alternative<VllmArgs>(engine.settings.args) ||
                         (bucketed && bucketed->flavour == BucketedArgs::Flavour::kTpu);
  if (role > 0 && !vllm_loop) {
    node.fail(
        fmt::format("prefill and decode apart is not modelled yet for the engine kind {}; leave it out", engine.kind));
  }
  return static_cast<PoolRole>(role);
}

const char* name(PoolRole role) {
  constexpr const char* kNames[] = {"both", "prefill", "decode"};
  return kNames[static_cast<std::size_t>(role)];
}

}  // namespace poolcast
