// SPDX-License-Identifier: Apache-2.0
#include "scenarios/yaml_tree.h"

namespace poolcast {

MappingReader::MappingReader(YamlNode mapping) : mapping_(std::move(mapping)) {
  if (!mapping_.is_mapping()) mapping_.fail("expected a mapping, got " + std::string(kind_name(mapping_.kind())));
}

bool MappingReader::has(std::string_view key) const { return mapping_.find(key).has_value(); }

YamlNode MappingReader::required(const std::string& key) {
  auto value = optional(key);
  if (value) return *value;
  std::vector<std::string> others;
  for (const auto& [name, ignored] : mapping_.entries()) {
    if (asked_.count(name) == 0) others.push_back(name);
  }
  const std::string_view slip = nearest(key, {others.begin(), others.end()});
  if (!slip.empty()) fail_at_key(slip, "unknown key", "did you mean " + quote(key) + "?");
  mapping_.fail("missing key " + quote(key));
}

std::optional<YamlNode> MappingReader::optional(const std::string& key) {
  asked_.insert(key);
  auto value = mapping_.find(key);
  if (value && value->is_null()) value->fail("has no value");
  return value;
}

std::pair<std::size_t, YamlNode> MappingReader::one_of(const std::vector<std::string>& keys) {
  std::optional<std::pair<std::size_t, YamlNode>> chosen;
  std::string list;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == keys.size() ? " or " : ", ") + keys[i];
    auto value = optional(keys[i]);
    if (!value) continue;
    if (chosen) fail_at_key(keys[i], "stands beside " + quote(keys[chosen->first]) + ", and only one of them can hold");
    chosen.emplace(i, *value);
  }
  if (!chosen) mapping_.fail("needs one of " + list);
  return *chosen;
}

void MappingReader::not_modelled_yet(const std::vector<std::string>& keys) const {
  for (const std::string& key : keys) {
    if (has(key)) fail_at_key(key, "this key is known but not modelled yet");
  }
}

void MappingReader::finish() const {
  for (const auto& [key, value] : mapping_.entries()) {
    if (asked_.count(key) == 0) fail_at_key(key, "unknown key", spelling_hint(key, {asked_.begin(), asked_.end()}));
  }
}

void MappingReader::fail_at_key(std::string_view key, std::string_view message, std::string_view hint) const {
  throw ConfigError(mapping_.key_location(key), joined_path(mapping_.path(), key), message, hint);
}

}  // namespace poolcast
