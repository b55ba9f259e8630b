// SPDX-License-Identifier: Apache-2.0
#include "scenarios/json_tree.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "scenarios/text_table.h"

namespace poolcast {
namespace {

using Json = nlohmann::ordered_json;

std::string scalar_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What an entry of a list is called by its own members; empty when nothing names it.
std::string name_of(const Json& entry) {
  std::string name;
  if (!entry.is_object()) return name;
  for (const char* key : {"kind", "model", "name", "pool", "class", "from", "to", "metric", "percentile", "check"}) {
    const auto found = entry.find(key);
    if (found == entry.end() || found->is_structured()) continue;
    name += (name.empty() ? "" : "/") + scalar_text(*found);
  }
  return name;
}

struct Leaf {
  std::string path, value;
};

void flatten(const Json& value, const std::string& path, std::vector<Leaf>& out) {
  if (!value.is_structured() || value.empty()) {
    out.push_back({path, scalar_text(value)});
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) flatten(member, path.empty() ? key : path + "." + key, out);
  } else {
    std::map<std::string, int> seen;
    for (const auto& [place, entry] : value.items()) {
      std::string name = name_of(entry);
      if (name.empty()) name = place;
      if (const int before = seen[name]++; before > 0) name += fmt::format("#{}", before + 1);
      flatten(entry, fmt::format("{}[{}]", path, name), out);
    }
  }
}

std::vector<Leaf> leaves(const Json& value) {
  std::vector<Leaf> found;
  flatten(value, "", found);
  return found;
}

std::map<std::string, std::string> by_path(const std::vector<Leaf>& leaves) {
  std::map<std::string, std::string> map;
  for (const Leaf& leaf : leaves) map.emplace(leaf.path, leaf.value);
  return map;
}

}  // namespace

Json json_of(const YamlNode& node) {
  switch (node.kind()) {
    case YamlNode::Kind::kNull:
      return {};
    case YamlNode::Kind::kScalar:
      return node.text();
    case YamlNode::Kind::kList: {
      Json list = Json::array();
      for (const YamlNode& item : node.items()) list.push_back(json_of(item));
      return list;
    }
    case YamlNode::Kind::kMapping:
      break;
  }
  Json mapping = Json::object();
  for (const auto& [key, value] : node.entries()) mapping[key] = json_of(value);
  return mapping;
}

std::string Change::text() const {
  constexpr std::size_t kColumns = 60;  // of each value
  return fmt::format("{}: {} -> {}", path, shortened(was, kColumns), shortened(is, kColumns));
}

std::vector<Change> changes(const Json& was, const Json& is) {
  const std::vector<Leaf> old_leaves = leaves(was), new_leaves = leaves(is);
  const auto old_values = by_path(old_leaves), new_values = by_path(new_leaves);
  std::vector<Change> found;
  for (const Leaf& leaf : old_leaves) {
    const auto now = new_values.find(leaf.path);
    if (now == new_values.end()) {
      found.push_back({leaf.path, leaf.value, "-"});
    } else if (now->second != leaf.value) {
      found.push_back({leaf.path, leaf.value, now->second});
    }
  }
  for (const Leaf& leaf : new_leaves) {
    if (old_values.count(leaf.path) == 0) found.push_back({leaf.path, "-", leaf.value});
  }
  return found;
}

}  // namespace poolcast
