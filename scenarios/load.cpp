// SPDX-License-Identifier: Apache-2.0
#include "scenarios/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenarios/include.h"
#include "scenarios/load_parts.h"
#include "scenarios/overrides.h"
#include "scenarios/units.h"

namespace poolcast {

YamlNode deepest(const YamlNode& node, const std::vector<std::string_view>& keys) {
  YamlNode at = node;
  for (std::string_view key : keys) {
    const auto below = at.find(key);
    if (!below) break;
    at = *below;
  }
  return at;
}

YamlNode degree_of(const YamlNode& pool, std::string_view what) { return deepest(pool, {"layout", what.substr(0, 2)}); }

std::int64_t load_bound(const YamlNode& node, std::int64_t open) {
  return node.is_word("none") ? open : node.integer(0, kMostTokens);
}

SimTime load_time_limit(const YamlNode& node) {
  return node.is_word("none") ? kNever : to_sim_time(read_seconds(node));
}

std::pair<YamlNode, YamlNode> load_pair(const YamlNode& node) {
  const auto items = node.items();
  if (items.size() != 2) node.fail(fmt::format("expected a pair [from, to], got {} values", items.size()));
  return {items[0], items[1]};
}

void check_names(const std::vector<std::pair<std::string, YamlNode>>& names) {
  std::map<std::string, Location> seen;
  for (const auto& [name, node] : names) {
    const YamlNode at = deepest(node, {"name"});
    if (name.empty()) at.fail("a name cannot be empty");
    const auto [first, is_new] = seen.emplace(name, at.location());
    if (is_new) continue;
    const Location& taken = first->second;
    std::string where;
    if (taken.line > 0) where = fmt::format(" in line {}", taken.line);
    if (taken.line > 0 && taken.file != at.location().file) where = fmt::format(" in {}:{}", taken.file, taken.line);
    at.fail(fmt::format("the name {} is taken{}", quote(name), where));
  }
}

void check_format_version(const YamlNode& version) {
  constexpr std::int64_t kFormatVersion = 1;
  if (version.integer() != kFormatVersion) {
    version.fail(fmt::format("this program reads version {}, got {}", kFormatVersion, quote(version.text())));
  }
}

namespace {

std::vector<YamlNode> entries_of(MappingReader& root, const std::string& key) {
  const YamlNode node = root.required(key);
  const auto entries = node.one_or_more();
  if (entries.empty()) node.fail("needs at least one entry");
  return entries;
}

template <class Entry>
void check_entry_names(const std::vector<Entry>& entries) {
  std::vector<std::pair<std::string, YamlNode>> names;
  for (const Entry& entry : entries) names.emplace_back(entry.name, entry.at);
  check_names(names);
}

Scenario load_document(const std::string& name, const YamlNode& document, const Catalog& catalog) {
  Scenario scenario;
  scenario.name = name;
  const auto slash = name.find_last_of('/');
  const LoadContext context{catalog, slash == std::string::npos ? "" : name.substr(0, slash + 1), scenario.notes,
                            &scenario.side_files};

  MappingReader root(document);
  check_format_version(root.required("version"));
  for (const char* key : {"include", "set"}) {
    if (root.has(key)) root.fail_at_key(key, "stands in files only, not in options");
  }
  if (const auto seed = root.optional("seed")) scenario.seed = static_cast<std::uint64_t>(seed->integer(0));
  root.not_modelled_yet({"failures", "failure_domains", "telemetry", "energy", "plan"});
  for (const YamlNode& node : entries_of(root, "pools")) scenario.pools.push_back(load_pool(node, context));
  check_entry_names(scenario.pools);
  for (const YamlNode& node : entries_of(root, "models")) scenario.models.push_back(load_model(node, context));
  check_entry_names(scenario.models);
  link_models(scenario.models, scenario.pools);
  for (PoolEntry& pool : scenario.pools) complete_pool(pool, scenario.models, context);
  scenario.topology =
      load_topology(root.optional("topology").value_or(document.empty_mapping()), scenario.models, scenario.pools);
  for (const YamlNode& node : entries_of(root, "workload")) {
    scenario.workload.push_back(load_workload_entry(node, scenario.models, context));
  }
  scenario.routing = load_routing(root.optional("routing").value_or(document.empty_mapping()), scenario.models,
                                  scenario.pools, context);
  if (root.has("move") || root.has("moves")) {
    scenario.moves = load_moves(root.one_of({"move", "moves"}).second, scenario.models, scenario.pools);
  }
  scenario.measure = load_measure(root.optional("measure").value_or(document.empty_mapping()));
  root.finish();
  return scenario;
}

}  // namespace

MeasureSpec load_measure(const YamlNode& node) {
  MeasureSpec measure;
  MappingReader reader(node);
  const auto window = reader.optional("window");
  const auto warm_up = reader.optional("warm_up");
  const auto until = reader.optional("until");
  reader.finish();
  if (window) {
    for (const char* key : {"warm_up", "until"}) {
      if (reader.has(key)) reader.fail_at_key(key, "stands beside \"window\", which says the same");
    }
    const auto [from, to] = load_pair(*window);
    measure.warm_up = to_sim_time(read_seconds(from));
    measure.until = load_time_limit(to);
  }
  if (warm_up && warm_up->is_mapping()) {
    MappingReader parts(*warm_up);
    if (const auto time = parts.optional("time")) measure.warm_up = to_sim_time(read_seconds(*time));
    if (const auto count = parts.optional("requests")) {
      measure.warm_up_requests = static_cast<std::uint64_t>(count->integer(0));
    }
    parts.finish();
  } else if (warm_up) {
    measure.warm_up = to_sim_time(read_seconds(*warm_up));
  }
  if (until) measure.until = load_time_limit(*until);
  if (measure.until <= measure.warm_up) {
    (window ? *window : until ? *until : node).fail("the measured time ends before it begins");
  }
  return measure;
}

Scenario load_scenario_text(const std::string& name, std::string_view text, const Catalog& catalog,
                            const std::vector<std::string>& overrides) {
  std::vector<std::string> included;
  YamlNode document = join_includes(parse_yaml(name, text), &included);
  for (const std::string& setting : overrides) document = apply_override(document, setting);
  Scenario scenario = load_document(name, document, catalog);
  for (const std::string& file : included) scenario.side_files.push_back({"include", file});
  return scenario;
}

Scenario load_scenario(const std::string& path, const Catalog& catalog, const std::vector<std::string>& overrides) {
  return load_scenario_text(path, read_text_file(path), catalog, overrides);
}

}  // namespace poolcast
