// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "models/error.h"
#include "scenarios/engines/engine_kind.h"
#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {

Layout load_layout(const YamlNode& node) {
  constexpr std::int64_t kMostDevices = 100'000;
  Layout layout;
  MappingReader reader(node);
  const auto degree = [&](const std::string& key, std::int64_t& value) {
    if (const auto stated = reader.optional(key)) value = stated->integer(1, kMostDevices);
  };
  degree("tp", layout.tp);
  degree("pp", layout.pp);
  degree("dp", layout.dp);
  degree("ep", layout.ep);
  reader.not_modelled_yet({"cp", "dcp"});
  reader.finish();
  return layout;
}

namespace {

/// Which layouts the model of an engine can follow.
void check_degrees(const PoolEntry& pool) {
  constexpr std::int64_t kMostDevices = 1'000'000;
  const EngineKind& kind = *engine_kind(pool.engine.kind);
  const auto refuse = [&](const char* key, const char* what) {
    deepest(pool.at, {"layout", key})
        .fail(fmt::format("{} of {} is not modelled yet: {} must be 1", what, kind.name, key));
  };
  if (pool.layout.pp > 1 && kind.widen == nullptr) refuse("pp", "pipeline parallelism");
  if (pool.layout.dp > 1 && kind.balancer == nullptr) refuse("dp", "data parallelism");
  if (pool.layout.devices() > kMostDevices) {
    deepest(pool.at, {"layout"}).fail(fmt::format("more than {} devices per replica", kMostDevices));
  }
}

/// By `provider/instance` in any case.
DollarsPerHour listed_price(const YamlNode& node, const Accelerator& accelerator, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const PriceEntry& entry : catalog.prices()) {
    names.push_back(entry.name());
    if (!entry.is_called(node.text())) continue;
    if (!entry.accelerator.empty() && entry.accelerator != accelerator.name) {
      node.fail(
          fmt::format("{} is listed for {}, and this pool has {}", node.text(), entry.accelerator, accelerator.name));
    }
    if (const auto price = entry.on_demand_per_device()) return *price;
    node.fail("the list has no on-demand price for " + node.text() + (entry.note.empty() ? "" : ": " + entry.note));
  }
  const std::string_view near = nearest(node.text(), {names.begin(), names.end()});
  node.fail("the catalog has no price " + quote(node.text()),
            near.empty() ? "see `poolcast catalog prices`" : fmt::format("did you mean \"{}\"?", near));
}

std::optional<DollarsPerHour> load_price(const YamlNode& node, const PoolEntry& pool, const Catalog& catalog) {
  if (node.is_word("none")) return std::nullopt;
  if (node.is_scalar()) node.fail("expected none, or a mapping such as {reserved: $2.10/h per device}");
  MappingReader reader(node);
  reader.not_modelled_yet({"on_demand", "spot", "standby", "schedule", "commitment"});
  const auto [kind, value] = reader.one_of({"reserved", "list"});
  reader.finish();
  if (kind == 1) return listed_price(value, pool.accelerator, catalog);
  const Price price = read_price(value);
  return price.per_replica ? price.amount / static_cast<double>(pool.layout.devices()) : price.amount;
}

/// A mapping for every replica, or a list with one for each.
void load_labels(const YamlNode& node, PoolEntry& pool) {
  const auto read = [](const YamlNode& mapping) {
    std::vector<std::pair<std::string, std::string>> labels;
    for (const auto& [key, value] : mapping.entries()) labels.emplace_back(key, value.text());
    return labels;
  };
  if (!node.is_list()) {
    pool.labels.assign(static_cast<std::size_t>(pool.replicas), read(node));
    return;
  }
  const auto items = node.items();
  if (static_cast<std::int64_t>(items.size()) != pool.replicas) {
    node.fail(fmt::format("the pool has {} replicas, and labels are given for {}", pool.replicas, items.size()));
  }
  for (const YamlNode& item : items) pool.labels.push_back(read(item));
}

}  // namespace

PoolEntry load_pool(const YamlNode& node, const LoadContext& context) {
  PoolEntry pool;
  pool.at = node;
  MappingReader reader(node);
  pool.name = reader.required("name").text();
  pool.accelerator = load_accelerator(reader.required("accelerator"), context);
  if (const auto region = reader.optional("region")) pool.region = region->text();
  if (const auto layout = reader.optional("layout")) pool.layout = load_layout(*layout);
  if (const auto replicas = reader.optional("replicas")) {
    pool.replicas = static_cast<std::int32_t>(replicas->integer(1, kMostReplicas));
  }
  pool.engine = load_engine(reader.required("engine"), pool.accelerator, pool.layout, context);
  check_degrees(pool);
  if (const auto role = reader.optional("role")) pool.role = load_role(*role, pool.engine);
  if (const auto curves = reader.optional("curves")) pool.curves = load_curves(*curves, context);
  const auto price = reader.optional("price");
  if (!price) node.fail("missing key \"price\": write {reserved: $2.10/h per device}, {list: NAME} or none");
  pool.price_per_device = load_price(*price, pool, context.catalog);
  if (const auto most = reader.optional("max_pending_requests"); most && !most->is_word("none")) {
    pool.max_pending_requests = most->integer(0);
  }
  if (const auto labels = reader.optional("labels")) load_labels(*labels, pool);
  if (const auto bandwidth = reader.optional("host_bandwidth")) {
    pool.host_bandwidth = read_bytes_per_second(*bandwidth);
    if (!(pool.host_bandwidth->value > 0)) bandwidth->fail("must be above 0");
  }
  reader.not_modelled_yet({"failures", "cold_start", "capacity", "standby", "spot", "compile", "power", "host",
                           "network", "link", "failure_domain"});
  reader.finish();
  return pool;
}

}  // namespace poolcast
